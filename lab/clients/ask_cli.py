#!/usr/bin/env python3
"""Every command of the package spark-history-cli, asked of a history server, in text and as JSON.

    ask_cli.py BASE_URL              writes a line of JSON for each command: step, output

Runs where the package is installed. The commands run in this process, for starting Python each time would take longer
than all of them.
"""
import os
import sys
import tempfile
import zipfile

from click.testing import CliRunner
from spark_history_cli.cli import cli

import steps


def ask(base_url, *args):
    done = CliRunner().invoke(cli, ["--server", base_url] + list(args))
    failed = "" if done.exception is None else "\n%s: %s" % (type(done.exception).__name__, done.exception)
    steps.emit("cli " + " ".join(args), "code %d\n%s%s" % (done.exit_code, done.output, failed))


def both(base_url, app, *args):
    for form in ([], ["--json"]):
        ask(base_url, *(form + (["--app-id", app] if app else []) + list(args)))


def one_app(url, app, path):
    for command in ("attempts", "summary", "processes", "jobs", "stages", "executors", "sql", "rdds", "env"):
        both(url, app, command)
    both(url, None, "app", app)
    both(url, app, "executors", "--all")
    both(url, app, "jobs", "--status", "failed")
    both(url, app, "stages", "--status", "complete")
    both(url, app, "sql", "--offset", "1", "--length", "2")
    for job in steps.few([j["jobId"] for j in steps.get(url, path + "/jobs")]):
        both(url, app, "job", str(job))
        both(url, app, "job-stages", str(job))
    for s in steps.few(steps.get(url, path + "/stages")):
        stage, attempt = str(s["stageId"]), str(s["attemptId"])
        both(url, app, "stage", stage)
        both(url, app, "stage", stage, "--attempt", attempt)
        both(url, app, "stage-summary", stage, "--attempt", attempt)
        for sort in ("ID", "runtime", "-runtime"):
            both(url, app, "stage-tasks", stage, "--attempt", attempt, "--sort-by", sort)
        both(url, app, "stage-tasks", stage, "--attempt", attempt, "--offset", "1", "--length", "3")
    for execution in steps.few([x["id"] for x in steps.get(url, path + "/sql?details=false") or []]):
        both(url, app, "sql", str(execution))
        both(url, app, "sql-jobs", str(execution))
        for view in ("full", "initial", "final"):
            both(url, app, "sql-plan", str(execution), "--view", view)
        both(url, app, "sql-plan", str(execution), "--dot")
    for rdd in steps.get(url, path + "/storage/rdd"):
        both(url, app, "rdd", str(rdd["id"]))
    logs(url, app)


def logs(url, app):
    """The archive is compared by what is in it."""
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "logs.zip")
        done = CliRunner().invoke(cli, ["--server", url, "--app-id", app, "logs", file])
        inside = "no archive"
        if os.path.exists(file):
            with zipfile.ZipFile(file) as archive:
                inside = sorted((i.filename, i.file_size, i.CRC) for i in archive.infolist())
        steps.emit("cli --app-id %s logs" % app, "code %d\n%s" % (done.exit_code, inside))


def main():
    url = sys.argv[1]
    both(url, None, "version")
    both(url, None, "apps")
    for args in (["--status", "completed", "--limit", "5"], ["--status", "running"], ["--limit", "3"],
                 ["--min-date", "2026-12-01"], ["--max-date", "2026-12-01T00:30:00.000GMT"]):
        both(url, None, "apps", *args)
    both(url, None, "app", "nosuch")
    both(url, "nosuch", "jobs")
    seen = set()
    for app, attempt in steps.attempts(url):
        if attempt:
            both(url, app, "attempt", attempt)
        if app not in seen:
            # Of an application with attempts, the package takes the latest.
            seen.add(app)
            latest = steps.get(url, "/applications/" + app)["attempts"][0].get("attemptId")
            one_app(url, app, steps.path(app, latest))
    both(url, min(seen), "job", "999999")
    both(url, min(seen), "stage", "999999")
    both(url, min(seen), "sql", "999999")


main()
