"""Prints every setting that a Spark knows as `name TAB kind TAB default`, sorted by name: what
crates/afterspark/src/pages/spark_defaults.tsv is made of.

    /path/of/venv/bin/python lab/defaults.py > crates/afterspark/src/pages/spark_defaults.tsv

A kind is found by asking the setting to read texts: `bytes:UNIT` and `time:UNIT` name what a number without a unit means,
`boolean`, `number` and `text` the rest. A default is the text that Spark's own environment page prints.
"""
import sys

from pyspark.sql import SparkSession

# Settings are known once the class that declares them is loaded.
DECLARED_BY = """
org.apache.spark.internal.config.package$ org.apache.spark.internal.config.History$ org.apache.spark.internal.config.UI$
org.apache.spark.internal.config.Status$ org.apache.spark.internal.config.Tests$ org.apache.spark.internal.config.Worker$
org.apache.spark.internal.config.Kryo$ org.apache.spark.internal.config.Network$ org.apache.spark.internal.config.Python$
org.apache.spark.internal.config.R$ org.apache.spark.internal.config.Streaming$ org.apache.spark.internal.config.Deploy$
org.apache.spark.sql.internal.SQLConf$ org.apache.spark.sql.internal.StaticSQLConf$ org.apache.spark.sql.hive.HiveUtils$
org.apache.spark.deploy.k8s.Config$ org.apache.spark.deploy.yarn.config.package$ org.apache.spark.streaming.StreamingConf$
org.apache.spark.sql.connect.config.Connect$
""".split()
BYTES = [("b", 1 << 30), ("k", 1 << 20), ("m", 1 << 10), ("g", 1)]
TIMES = [("us", 3_600_000_000), ("ms", 3_600_000), ("s", 3_600), ("min", 60), ("h", 1)]


def main():
    spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
    jvm = spark._jvm
    for name in DECLARED_BY:
        try:
            jvm.java.lang.Class.forName(name, True, jvm.Thread.currentThread().getContextClassLoader())
        except Exception:
            print(f"not there: {name}", file=sys.stderr)

    def read(entry, text):
        """What a setting makes of a text, or None."""
        try:
            value = entry.valueConverter().apply(text)
            # a setting without a default reads an Option
            return value.get() if hasattr(value, "isDefined") else value
        except Exception:
            return None

    def kind(entry):
        if isinstance(read(entry, "true"), bool):
            return "boolean"
        # a converter may refuse a value as too large or too small
        for text, factor in [("1g", 1), ("1m", 1 << 10), ("16m", 1 << 6), ("256m", 1 << 2)]:
            value = read(entry, text)
            for unit, n in BYTES:
                if isinstance(value, int) and value * factor == n:
                    return f"bytes:{unit}"
        for text, factor in [("1h", 1), ("1min", 60), ("6min", 10), ("1d", 1 / 24)]:
            value = read(entry, text)
            for unit, n in TIMES:
                if isinstance(value, int) and value * factor == n:
                    return f"time:{unit}"
        for text in ["1", "2", "0", "0.5", "16", "100", "1024", "65536"]:
            value = read(entry, text)
            if isinstance(value, (int, float)) and not isinstance(value, bool):
                return "number"
        return "text"

    module = getattr(getattr(jvm.org.apache.spark.internal.config, "ConfigEntry$"), "MODULE$")
    entries = module.knownConfigs()
    known = {key: entries.get(key) for key in entries.keySet()}
    module = getattr(getattr(jvm.org.apache.spark.sql.internal, "SQLConf$"), "MODULE$")
    sql = module.getConfigEntries().iterator()
    while sql.hasNext():
        entry = sql.next()
        known[entry.key()] = entry
    for key, entry in sorted(known.items()):
        if not key.startswith("spark.") or ".testing." in key or key.startswith("spark.test"):
            continue
        default = " ".join(entry.defaultValueString().split())
        # that of the folder where this runs says nothing
        if key == "spark.sql.warehouse.dir":
            default = "<undefined>"
        print(key, kind(entry), default, sep="\t")


main()
