"""What the scripts here share: which applications there are, and a line of JSON for each thing a client was asked."""
import json
import urllib.error
import urllib.request


def get(base_url, path):
    """What a server answers, to choose what a client is asked about; None when it has none."""
    try:
        with urllib.request.urlopen(base_url.rstrip("/") + "/api/v1" + path, timeout=300) as answer:
            return json.load(answer)
    except urllib.error.HTTPError:
        return None


def attempts(base_url):
    """Application and attempt id (or None) of all that are completed, by name: of others, durations grow with the clock."""
    apps = get(base_url, "/applications")
    return sorted(((a["id"], x.get("attemptId")) for a in apps for x in a["attempts"] if x["completed"]), key=str)


def path(app, attempt):
    return "/applications/%s%s" % (app, "/" + attempt if attempt else "")


def few(items, n=3):
    """The first, and the last."""
    return items if len(items) <= n else items[:n - 1] + items[-1:]


def emit(step, output):
    print(json.dumps({"step": step, "output": output}), flush=True)
