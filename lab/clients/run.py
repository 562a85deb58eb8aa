#!/usr/bin/env python3
"""Real clients of the history server's REST API, run against two servers, with equal results or not.

    run.py SPARK_URL AFTERSPARK_URL [--python PYTHON] [--only NAME] [--show N]

SPARK_URL and AFTERSPARK_URL are http://127.0.0.1:PORT of Spark's history server and of `afterspark serve`, both on
examples/logs. The clients:

  report  job_report.py, a script of this folder
  cli     every command of the package spark-history-cli
  mcp     every tool of the package mcp-apache-spark-history-server; it needs Python 3.12, which --python may name

The packages are installed into virtual environments below $LAB/clients (default ./lab-work/clients) when they are not
there. What a client says is compared after taking out what depends on server and clock: see NEUTRAL. In JSON, the order
of keys that are data does not count: see MAPS. Exit status 1 when anything else differs.
"""
import argparse
import json
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
LAB = os.path.abspath(os.environ.get("LAB", "lab-work"))
PACKAGES = {"cli": "spark-history-cli==1.5.0", "mcp": "mcp-apache-spark-history-server==1.0.2"}
NEUTRAL = [
    # where a server is, and where it keeps its logs
    (r"http://127\.0\.0\.1:\d+", "URL"),
    (r'("?logSource(Name|FullPath)"?: "?)[^"\n]*', r"\1~"),
    # when a log was written last, or was last looked at
    (r'("?lastUpdated(Epoch)?"?: "?)[^",\n]*', r"\1~"),
    # how long a task has run that runs when the log ends: until the server's clock
    (r"(│ RUNNING │[^│\n]*│[^│\n]*│)[^│\n]*", r"\1 ~ "),
    # headers within a message, with the time and the name of the server program
    (r"HTTPHeaderDict\(\{.*?\}\)", "HEADERS"),
]
MAPS = {"tasks", "executorSummary", "executor_summary", "killedTasksSummary", "killed_tasks_summary", "executorLogs",
        "executor_logs", "attributes", "resources", "executorResources", "executor_resources", "taskResources",
        "task_resources", "modifiedConfigs", "modified_configs"}


def environment(name, python):
    """The interpreter of the environment with a package; made when it is not there."""
    folder = os.path.join(LAB, "clients", name)
    inside = os.path.join(folder, "bin", "python")
    if not os.path.exists(os.path.join(folder, "done")):
        subprocess.run([python, "-m", "venv", folder], check=True)
        subprocess.run([inside, "-m", "pip", "-q", "install", PACKAGES[name]], check=True)
        with open(os.path.join(folder, "done"), "w", encoding="utf-8"):
            pass
    return inside


def run(python, script, url):
    done = subprocess.run([python, os.path.join(HERE, script), url], stdout=subprocess.PIPE, encoding="utf-8")
    if done.returncode:
        sys.exit("%s ended with code %d against %s" % (script, done.returncode, url))
    return done.stdout


def in_order(value):
    """Objects whose keys are data, sorted: the real server sends them in the order of its hash tables. And without the
    time that a task has run that runs when the log ends: it grows with the server's clock."""
    if isinstance(value, list):
        return [in_order(item) for item in value]
    if not isinstance(value, dict):
        return value
    if value.get("status") == "RUNNING" and "duration" in value:
        value = dict(value, duration="~")
    return {k: dict(sorted(in_order(v).items())) if k in MAPS and isinstance(v, dict) else in_order(v)
            for k, v in value.items()}


def sorted_json(text):
    """JSON values in a row, each written anew; a text for people as it is."""
    out, at, decoder = [], 0, json.JSONDecoder()
    try:
        while text[at:].strip():
            at += len(text[at:]) - len(text[at:].lstrip())
            value, at = decoder.raw_decode(text, at)
            out.append(json.dumps(in_order(value), indent=2))
    except ValueError:
        return text
    return "\n".join(out)


def neutral(text):
    # the first line says how it went
    how, newline, said = text.partition("\n")
    text = how + newline + sorted_json(said)
    for pattern, instead in NEUTRAL:
        text = re.sub(pattern, instead, text)
    return text


def steps(text):
    """What a client said at each step; a report is one step for each application."""
    if text.startswith("{"):
        lines = map(json.loads, text.splitlines())
        return {r["step"]: neutral(r["output"]) for r in lines}
    return {part.split("\n", 1)[0]: neutral(part) for part in re.split(r"(?m)^(?=== )", text)}


def first_difference(a, b):
    for x, y in zip(a.split("\n"), b.split("\n")):
        if x != y:
            return x[:160], y[:160]
    return "%d lines" % a.count("\n"), "%d lines" % b.count("\n")


def compare(name, spark, ours, show):
    differing = [step for step in spark if spark[step] != ours.get(step)]
    extra = [step for step in ours if step not in spark]
    print("%-8s %5d steps, %5d equal, %4d differ, %4d extra" % (
        name, len(spark), len(spark) - len(differing), len(differing), len(extra)))
    for step in differing[:show]:
        print("    %s" % step)
        for line in first_difference(spark[step], ours[step]) if step in ours else ["not answered"]:
            print("        " + line)
    return not differing and not extra


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("spark")
    ap.add_argument("afterspark")
    ap.add_argument("--python", default=sys.executable)
    ap.add_argument("--only", default="")
    ap.add_argument("--show", type=int, default=5)
    o = ap.parse_args()
    equal = True
    for name, script in (("report", "job_report.py"), ("cli", "ask_cli.py"), ("mcp", "ask_mcp.py")):
        if o.only in ("", name):
            python = environment(name, o.python) if name in PACKAGES else sys.executable
            spark, ours = (steps(run(python, script, url)) for url in (o.spark, o.afterspark))
            equal &= compare(name, spark, ours, o.show)
    sys.exit(0 if equal else 1)


main()
