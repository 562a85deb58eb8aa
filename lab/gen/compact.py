#!/usr/bin/env python3
"""Let the real history server compact the log of scenario 'rolling', and add the result as 'rolling_compacted'.

    compact.py [--port 18099]         after: run_all.py rolling

The server rewrites all but the newest file of a rolling log into one events_N….compact that leaves out what a finished job
no longer needs. The original log is left as it is.
"""
import argparse
import os
import shutil
import signal
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
LAB = os.path.abspath(os.environ.get("LAB", "lab-work"))
TABLE = os.path.join(LAB, "logs", "gen.tsv")
SECONDS_MAX = 120


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--port", default="18099")
    o = ap.parse_args()
    with open(TABLE, encoding="utf-8") as f:
        rows = [ln.rstrip("\n").split("\t") for ln in f]
    name = next((r[1] for r in rows if r[0] == "rolling"), None) or sys.exit("run_all.py rolling first")
    work = os.path.join(LAB, "compacted")
    shutil.rmtree(work, ignore_errors=True)
    shutil.copytree(os.path.join(LAB, "logs", "gen", name), os.path.join(work, name))
    conf = ["spark.history.fs.eventLog.rolling.maxFilesToRetain=1", "spark.history.fs.update.interval=2s",
            "spark.history.fs.eventLog.rolling.compaction.score.threshold=0"]
    started = subprocess.run(["bash", os.path.join(HERE, "..", "shs.sh"), work, o.port] + conf, check=True, capture_output=True,
                             text=True)
    pid = int(started.stdout.split()[-1])
    try:
        for _ in range(SECONDS_MAX):
            time.sleep(1)
            files = sorted(n for n in os.listdir(os.path.join(work, name)) if not n.startswith("."))
            kept = [n for n in files if n.startswith("events_")]
            if len(kept) == 2 and any(n.endswith(".compact") for n in kept):
                break
        else:
            sys.exit("not compacted: " + " ".join(files))
    finally:
        os.kill(pid, signal.SIGTERM)
    version = next(r[2] for r in rows if r[0] == "rolling")
    # Beside the others, but in its own folder: it has the application id of the log it came from.
    target = os.path.join(LAB, "logs", "compacted", name)
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(os.path.join(work, name), target, ignore=shutil.ignore_patterns(".*"))
    row = ["rolling_compacted", "../compacted/" + name, version, "compact.py",
           "rolling log compacted by the history server (events_N.compact)"]
    with open(TABLE, "w", encoding="utf-8") as f:
        f.writelines("\t".join(r) + "\n" for r in rows if r[0] != "rolling_compacted")
        f.write("\t".join(row) + "\n")
    print(" ".join(files))


main()
