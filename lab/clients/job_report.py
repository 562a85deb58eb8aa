#!/usr/bin/env python3
"""A text report on applications, the way scripts around Spark have always made one: over the REST API alone.

    job_report.py BASE_URL [APP_ID[/ATTEMPT] ...]        (all that the server lists when none is named)

For each attempt: its jobs, its stages with the tasks behind them (fetched a page at a time), the spread of task times
as the server sees it beside the one counted here, and the executors. Needs nothing but Python.
"""
import json
import sys
import urllib.error
import urllib.parse
import urllib.request

PAGE = 500


class Api:
    def __init__(self, base_url):
        self.root = base_url.rstrip("/") + "/api/v1"

    def get(self, path, **query):
        """The answer, or None where the server says that there is none."""
        url = self.root + path + ("?" + urllib.parse.urlencode(query) if query else "")
        try:
            with urllib.request.urlopen(url, timeout=300) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            if error.code == 404:
                return None
            raise

    def tasks(self, stage):
        """All tasks of a stage attempt, page by page."""
        got = []
        while True:
            page = self.get(stage + "/taskList", offset=len(got), length=PAGE, sortBy="ID")
            got += page
            if len(page) < PAGE:
                return got


def size(n):
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if n < 1024 or unit == "TiB":
            return ("%d %s" if unit == "B" else "%.1f %s") % (n, unit)
        n /= 1024


def seconds(ms):
    return "%.3f s" % (ms / 1000)


def middle(values):
    return sorted(values)[len(values) // 2] if values else 0


def report(api, app, attempt):
    path = "/applications/" + urllib.parse.quote(app["id"], safe="")
    if "attemptId" in attempt:
        path += "/" + attempt["attemptId"]
    print("== %s %s (%s)" % (app["id"], attempt.get("attemptId", ""), app["name"]))
    print("Spark %s, user %s, from %s to %s, %s" % (
        attempt["appSparkVersion"], attempt["sparkUser"], attempt["startTime"], attempt["endTime"],
        seconds(attempt["duration"]) if attempt["completed"] else "not completed"))
    runtime = (api.get(path + "/environment") or {}).get("runtime", {})
    print("Java %s, Scala %s" % (runtime.get("javaVersion"), runtime.get("scalaVersion")))
    jobs(api, path)
    for stage in api.get(path + "/stages"):
        one_stage(api, path, stage)
    executors(api, path)
    for x in api.get(path + "/sql", details="false", planDescription="false", length=PAGE) or []:
        print("sql %d %s, jobs %s: %s" % (
            x["id"], x["status"], x["successJobIds"] + x["failedJobIds"], x["description"].split("\n")[0]))
    for rdd in api.get(path + "/storage/rdd"):
        print("rdd %d %s: %d of %d partitions, %s in memory" % (
            rdd["id"], rdd["name"], rdd["numCachedPartitions"], rdd["numPartitions"], size(rdd["memoryUsed"])))
    print()


def jobs(api, path):
    for job in api.get(path + "/jobs"):
        print("job %d %s: %d tasks, %d failed, %d skipped, stages %s, %s to %s%s" % (
            job["jobId"], job["status"], job["numTasks"], job["numFailedTasks"], job["numSkippedTasks"],
            sorted(job["stageIds"]), job.get("submissionTime"), job.get("completionTime"),
            ", group " + job["jobGroup"] if "jobGroup" in job else ""))


def one_stage(api, path, stage):
    here = "%s/stages/%d/%d" % (path, stage["stageId"], stage["attemptId"])
    print("stage %d.%d %s: %s, %d tasks, run %s, in %s, out %s, shuffle %s read, %s written, spill %s" % (
        stage["stageId"], stage["attemptId"], stage["status"], stage["name"], stage["numTasks"],
        seconds(stage["executorRunTime"]), size(stage["inputBytes"]), size(stage["outputBytes"]),
        size(stage["shuffleReadBytes"]), size(stage["shuffleWriteBytes"]), size(stage["diskBytesSpilled"])))
    tasks = api.tasks(here)
    ended = [t for t in tasks if t["status"] == "SUCCESS" and "taskMetrics" in t]
    runs = [t["taskMetrics"]["executorRunTime"] for t in ended]
    if runs:
        slow = max(ended, key=lambda t: (t["taskMetrics"]["executorRunTime"], -t["taskId"]))
        print("    %d tasks, median %s, slowest %s: task %d on %s of executor %s" % (
            len(tasks), seconds(middle(runs)), seconds(max(runs)), slow["taskId"], slow["host"], slow["executorId"]))
    summary = api.get(here + "/taskSummary", quantiles="0.0,0.25,0.5,0.75,1.0")
    if summary:
        print("    run times %s, GC %s" % (summary["executorRunTime"], summary["jvmGcTime"]))
    for t in tasks:
        if t.get("errorMessage"):
            print("    task %d, attempt %d, %s: %s" % (
                t["taskId"], t["attempt"], t["status"], t["errorMessage"].split("\n")[0][:120]))


def executors(api, path):
    for x in api.get(path + "/allexecutors"):
        gone = ", gone %s: %s" % (x.get("removeTime"), x.get("removeReason")) if not x["isActive"] else ""
        print("executor %s: %d cores, %d tasks, %d failed, GC %s, in %s, shuffle %s%s" % (
            x["id"], x["totalCores"], x["totalTasks"], x["failedTasks"], seconds(x["totalGCTime"]),
            size(x["totalInputBytes"]), size(x["totalShuffleRead"]), gone))


def main():
    api, wanted = Api(sys.argv[1]), sys.argv[2:]
    print("Spark's API of version", api.get("/version")["spark"])
    for app in api.get("/applications"):
        for attempt in app["attempts"]:
            name = app["id"] + ("/" + attempt["attemptId"] if "attemptId" in attempt else "")
            if not wanted or app["id"] in wanted or name in wanted:
                report(api, app, attempt)


main()
