#!/usr/bin/env python3
"""Put generated logs into examples/logs as they are bundled with the project, and write examples/README.md.

    bundle.py [--logs DIR] [--out DIR] [SCENARIO ...]     (all scenarios of bundle.tsv when none is named)

DIR is where run_all.py laid the logs ($LAB/logs, with gen.tsv in it). bundle.tsv says how each scenario is kept:

  small   one zstd frame at level 19 (a log without codec shrinks about fifteen times; the events are unchanged)
  plain   without codec, as Spark wrote it
  as-is   with the codec and frames that Spark wrote, for the readers of those

Paths of the machine that ran the scenario are made neutral in the first two: $LAB/scratch/X becomes /data, $LAB/out/X
/logs, the lab's scripts /jobs, Spark's home /opt/spark and the home folder /home/spark. An as-is log with such a path in
it is refused, unless only its user.home would change.
"""
import argparse
import os
import re
import shutil

import zstandard

HERE = os.path.dirname(os.path.abspath(__file__))
LAB = os.path.abspath(os.environ.get("LAB", "lab-work"))
NEUTRAL = [(re.escape(LAB) + r"/scratch/\w+", "/data"), (re.escape(LAB) + r"/out/\w+", "/logs"),
           (re.escape(LAB) + r"/venv/[^/]+/lib/[^/]+/site-packages/pyspark", "/opt/spark"),
           (re.escape(LAB) + r"/venv/v[0-9.]+/bin/python[0-9.]*", "/usr/bin/python3"),
           (re.escape(os.path.join(HERE, "gen")), "/jobs"), (re.escape(os.path.dirname(HERE)), "/project"),
           (r'"user.home":"[^"]*"', '"user.home":"/home/spark"')]
INTRO = """# Example logs

Small event logs written by real Spark with the scripts in `lab/gen`, one scenario each, for trying the program and for
the tests. `lab/bundle.py` puts them here and writes this page; paths were made neutral, nothing else was changed.
`golden/rest/` holds what the history servers of Spark 4.2.0 and 4.3.0 answer about each (`lab/README.md` says how).

They are runs of half a minute, in which start-up and planning weigh more than the oddity they show: they exercise the
forms that a log can take, not its severity.

| file | scenario | Spark | script | what it shows |
| --- | --- | --- | --- | --- |
"""


def rows(path):
    with open(path, encoding="utf-8") as f:
        return [ln.rstrip("\n").split("\t") for ln in f if ln.strip() and not ln.startswith("#")]


def whole(path):
    with open(path, "rb") as f:
        data = f.read()
    if ".zstd" in os.path.basename(path):
        data = zstandard.ZstdDecompressor().stream_reader(data, read_across_frames=True).readall()
    return data


def neutral(data):
    for pattern, text in NEUTRAL:
        data = re.sub(pattern.encode(), text.encode(), data)
    return data


def place(src, dst, how):
    """Copy one file. Returns the file's name as bundled."""
    name = os.path.basename(src)
    if how == "as-is":
        if name.endswith(".zstd") and LAB.encode() in whole(src):
            raise SystemExit(name + " names paths of this machine: keep it as 'small' or 'plain'")
        shutil.copyfile(src, os.path.join(dst, name))
        return name
    data = neutral(whole(src))
    if how == "small":
        stem, ending = re.match(r"(.*?)(?:\.zstd)?((?:\.inprogress|\.compact)?)$", name).groups()
        name = stem + ".zstd" + ending
        data = zstandard.ZstdCompressor(level=19).compress(data)
    with open(os.path.join(dst, name), "wb") as f:
        f.write(data)
    return name


def bundle(src, dst, how):
    """Copy a log, a file or a rolling folder. Returns its name as bundled."""
    if not os.path.isdir(src):
        return place(src, dst, how)
    folder = os.path.join(dst, os.path.basename(src))
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    for name in sorted(os.listdir(src)):
        path = os.path.join(src, name)
        place(path, folder, how if os.path.getsize(path) else "as-is")
    return os.path.basename(src) + "/"


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("scenario", nargs="*")
    ap.add_argument("--logs", default=os.path.join(LAB, "logs"))
    ap.add_argument("--out", default=os.path.join(os.path.dirname(HERE), "examples", "logs"))
    o = ap.parse_args()
    os.makedirs(o.out, exist_ok=True)
    page = os.path.join(os.path.dirname(o.out), "README.md")
    table = {}
    if os.path.exists(page):  # what is not bundled anew keeps its line
        with open(page, encoding="utf-8") as f:
            for ln in f:
                if ln.startswith("| `"):
                    table.setdefault(ln.split("|")[2].strip(), []).append(ln)
    made = {}
    for sid, name, version, script, about in rows(os.path.join(o.logs, "gen.tsv")):
        made.setdefault(sid, []).append((name, version, script, about))
    kept = rows(os.path.join(HERE, "bundle.tsv"))
    for sid, how in kept:
        if (o.scenario and sid not in o.scenario) or sid not in made:
            continue
        for line in table.pop(sid, ()):  # the log of an earlier run
            old = os.path.join(o.out, line.split("`")[1])
            shutil.rmtree(old) if os.path.isdir(old) else os.path.exists(old) and os.remove(old)
        table[sid] = []
        for name, version, script, about in made[sid]:
            as_bundled = bundle(os.path.join(o.logs, "gen", name), o.out, how)
            table[sid].append("| `%s` | %s | %s | `%s` | %s |\n" % (as_bundled, sid, version, script, about))
    with open(page, "w", encoding="utf-8") as f:
        f.write(INTRO)
        for sid, _ in kept:
            f.writelines(table.get(sid, ()))
    missing = [sid for sid, _ in kept if sid not in table]
    print(sum(map(len, table.values())), "logs;", "missing: " + " ".join(missing) if missing else "complete")


main()
