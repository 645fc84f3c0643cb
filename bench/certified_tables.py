# SPDX-License-Identifier: MIT
"""The tables of what bench/certified.py measured, for tables.py, or of one file by itself:

    python3 bench/certified_tables.py FILE.json
"""
import json
import os
import statistics
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
# Where tables.py finds the results of a CPU and of a GPU.
FILES = [os.path.join(HERE, "results", "cpu", "certified.json"),
         os.path.join(HERE, "results", "certified.json")]
SETS = {"avx2": "CPU, AVX2", "all": "CPU, all", "": "GPU"}


def digits(ms):
    return "%.3g" % ms if ms < 1000 else "%.0f" % ms


def percent(share):
    """So many digits that what was scored never reads as 0."""
    return "0" if share == 0 else "%.2g" % (100 * share) if share < 0.0995 else "%.0f" % (100 * share)


def row_of(entry, strategy, features=None):
    for row in entry["rows"]:
        if row["strategy"] == strategy and (features is None or row["features"] == features):
            return row
    return None


def median_of(entries, strategy, features=None):
    ms = [row["ms"]["median"] for row in (row_of(e, strategy, features) for e in entries) if row]
    return statistics.median(ms) if ms else None


def gain(entries, strategy, features):
    """How many times as fast as exhaustive search, over the templates: median, least."""
    times = [row_of(e, "exhaustive", features)["ms"]["median"] / row_of(e, strategy, features)["ms"]["median"]
             for e in entries]
    return "%.3g (%.2g)" % (statistics.median(times), min(times))


def scored(entries, features):
    shares = [row_of(e, "certified", features)["scored"] for e in entries]
    return "%s (%s)" % (percent(statistics.median(shares)), percent(max(shares)))


def groups(record, wanted):
    """Entries of each instruction set, frame and template."""
    entries = [e for e in record["results"] if wanted(e)]
    for features in dict.fromkeys(r["features"] for e in entries for r in e["rows"] if "features" in r):
        for size in sorted({e["frame"] for e in entries}):
            for side in sorted({e["template"] for e in entries}):
                here = [e for e in entries if (e["frame"], e["template"]) == (size, side)]
                if here:
                    yield features, size, side, here


def sources(records):
    return "Measured: " + "; ".join(
        "%s%s, commit %s" % (r["device"], ", OpenCV " + r["opencv"] if "opencv" in r else "", r["commit"])
        for r in records) + "."


def present(records, table):
    lines = []
    for record in records:
        for features, size, side, here in groups(record, lambda e: e["case"] == "present" and e["how"] != "noise"):
            opencv, ours = median_of(here, "opencv"), median_of(here, "certified", features)
            lines.append([SETS[features], "%d²" % size, "%d²" % side, str(len(here)),
                          digits(median_of(here, "exhaustive", features)), digits(ours),
                          gain(here, "certified", features), scored(here, features),
                          "%s (%.3g×)" % (digits(opencv), opencv / ours) if opencv else "–"])
    head = ["on", "frame", "template", "searches", "exhaustive", "certified", "times as fast", "windows scored, %",
            "OpenCV"]
    return table(head, lines, 3) + "\n\n" + sources(records) if lines else ""


def others(records, table):
    kinds = [("absent", lambda e: e["case"] == "absent" and e["how"] != "noise"),
             ("absent, all of 0.8", lambda e: e["case"].startswith("absent, all") and e["how"] != "noise"),
             ("noise", lambda e: e["how"] == "noise" and e["case"] == "present"),
             ("noise, absent", lambda e: e["how"] == "noise" and e["case"] == "absent")]
    lines = []
    for record in records:
        for name, wanted in kinds:
            for features, size, side, here in groups(record, wanted):
                lines.append([name, SETS[features], "%d²" % size, "%d²" % side, str(len(here)),
                              digits(median_of(here, "exhaustive", features)),
                              digits(median_of(here, "certified", features)), gain(here, "certified", features),
                              scored(here, features), gain(here, "auto", features)])
    head = ["search", "on", "frame", "template", "searches", "exhaustive", "certified", "times as fast",
            "windows scored, %", "auto, times as fast"]
    return table(head, lines, 4) + "\n\n" + sources(records) if lines else ""


def load(paths):
    records = []
    for path in paths:
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                records.append(json.load(file))
    return records


if __name__ == "__main__":
    import tables
    for block in (present, others):
        print(block(load(sys.argv[1:]), tables.table) + "\n")
