#!/usr/bin/env python3
"""Extract from a capture of a real history server the answers that the project's tests compare with.

    golden.py CAPTURE_DIR OUT_DIR [--apps REGEX] [--logs EXAMPLES_DIR]

CAPTURE_DIR  what capture.py wrote: one APP[_ATTEMPT].jsonl.gz for each attempt, every endpoint with many parameters
OUT_DIR      gets a file of the same name, with the plain answers only: application, jobs, stages, each stage attempt
             (with its tasks and its summary by executor), taskSummary, allexecutors, storage/rdd and sql
--logs       only attempts whose log is in this folder (by the id in the file name)

A line is one answer as JSON: path (below /api/v1), class, status, type, the headers that matter, and body as the server sent it (key order kept) or
text when it was not JSON. What depends on where and when the server was asked is made neutral: the folder in
logSourceName becomes /logs, and lastUpdated (when the file was last written) 1970. The environment is left out: nine
tenths of it are the class path. The files are gzip without a time in the header, so equal answers give equal bytes, and
`compare.py OUT_DIR CAPTURE_DIR` compares them with another capture.
"""
import argparse
import glob
import gzip
import io
import json
import os
import re

CLASSES = ("application", "jobs", "stages", "stage attempt", "taskSummary", "allexecutors", "storage/rdd", "sql")

KEYS = ("path", "class", "status", "type", "headers", "body", "text")


def wanted(record):
    """The classes above, asked without parameters: each says everything the server knows by default."""
    return record["class"] in CLASSES and "?" not in record["path"]


def neutral(x):
    """A copy without the place of the server's logs and their file times."""
    if isinstance(x, list):
        return [neutral(v) for v in x]
    if not isinstance(x, dict):
        return x
    out = {k: neutral(v) for k, v in x.items()}
    if "logSourceName" in out:
        out.update(logSourceName="file:///logs", logSourceFullPath="file:/logs")
    if "lastUpdatedEpoch" in out:
        out.update(lastUpdated="1970-01-01T00:00:00.000GMT", lastUpdatedEpoch=0)
    return out


def extract(path):
    with gzip.open(path, "rt", encoding="utf-8") as f:
        for line in f:
            record = json.loads(line)
            if wanted(record):
                yield {k: neutral(record[k]) for k in KEYS if k in record}


def write(path, records):
    raw = io.BytesIO()
    with gzip.GzipFile(fileobj=raw, mode="wb", compresslevel=9, mtime=0) as f:
        for r in records:
            f.write(json.dumps(r, ensure_ascii=False, separators=(",", ":")).encode() + b"\n")
    with open(path, "wb") as f:
        f.write(raw.getvalue())


def log_ids(folder):
    """APP[_ATTEMPT] of each log in a folder: the file's or rolling folder's name without its endings."""
    names = (re.sub(r"^eventlog_v2_", "", n) for n in os.listdir(folder))
    return {re.sub(r"(\.(zstd|lz4|lzf|snappy|inprogress))+$", "", n) for n in names}


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("capture")
    ap.add_argument("out")
    ap.add_argument("--apps", default="")
    ap.add_argument("--logs")
    o = ap.parse_args()
    os.makedirs(o.out, exist_ok=True)
    only = log_ids(o.logs) if o.logs else None
    done, size = set(), 0
    for path in sorted(glob.glob(os.path.join(o.capture, "*.jsonl.gz"))):
        name = os.path.basename(path)[:-len(".jsonl.gz")]
        if name == "_server" or name.endswith(".pages") or not re.search(o.apps, name) or (only and name not in only):
            continue
        out = os.path.join(o.out, name + ".jsonl.gz")
        write(out, extract(path))
        done.add(name)
        size += os.path.getsize(out)
    print("%d attempts, %d kB" % (len(done), size // 1000))
    for name in sorted((only or set()) - done):
        print("no capture of", name)


main()
