# SPDX-License-Identifier: MIT
"""The table of what bench/poses.py measured, of one file or of several of one commit:

    python3 bench/poses_tables.py FILE.json...
"""
import json
import statistics
import sys


def share(parts):
    parts = list(parts)
    return "%.0f %% of %d" % (100 * sum(parts) / len(parts), len(parts)) if parts else "–"


def found(cases):
    return share(error is not None for case in cases for error in case["errors"])


def errors(cases, which):
    values = sorted(e[which] for case in cases for e in case["errors"] if e)
    return "%.2f / %.2f" % (statistics.median(values), values[int(0.95 * (len(values) - 1))]) if values else "–"


def ms(cases):
    values = [case["ms"] for case in cases]
    return "%.0f (%.0f)" % (statistics.median(values), max(values)) if values else "–"


def same(cases):
    return share(case["same"] for case in cases if "same" in case)


def gain(results, who, search):
    """How many times as long the other took, on the frames that both had."""
    ours = {case["number"]: case["ms"] for case in results if case["by"] == search and case["kind"] == "one"}
    ratios = [case["ms"] / ours[case["number"]] for case in results if case["by"] == who]
    return "%.3g×, %s" % (statistics.median(ratios), found(c for c in results if c["by"] == who)) if ratios else "–"


def column(results, search):
    own = [case for case in results if case["by"] == search]
    one, five, absent = ([c for c in own if c["kind"] == kind] for kind in ("one", "five", "absent"))
    rows = {"one target found": found(one),
            "of the unambiguous": found(c for c in one if c["unambiguous"]),
            "five targets found, of the unambiguous": found(c for c in five if c["unambiguous"])}
    for kind in ("1.05", "0.95", "1.05, searched", "0.95, searched", "1.25, searched", "0.8, searched"):
        rows["scale %s" % kind] = found(c for c in own if c["kind"] == kind)
    rows.update({"error, median / 95th percentile, px": errors(one + five, 0),
                 "error, degrees": errors(one + five, 1),
                 "ms, 512² frame": ms([c for c in one if c["frame"] == [512, 512]]),
                 "ms, 1600×1200 frame": ms([c for c in one if c["frame"] != [512, 512]]),
                 "ms, absent, 512²": ms([c for c in absent if c["frame"] == [512, 512]]),
                 "absent, yet above 0.8": share(c["best"] > 0.8 for c in absent),
                 "%s, one target" % search.replace("auto", "certified"):
                     share(c["algorithm"] == search.replace("auto", "certified") for c in one)})
    if search == "pyramid":
        rows["auto: time, found"] = gain(results, "auto", search)
        rows["the same as auto"] = same(c for c in results if c["by"] == "auto")
        return rows
    for who, name in (("exhaustive", "exhaustive"), ("opencv", "OpenCV, loop, masks"),
                      ("mtm", "MultiTemplateMatching")):
        rows["%s: time, found" % name] = gain(results, who, search)
    return rows


def main():
    records = []
    for path in sys.argv[1:]:
        with open(path, encoding="utf-8") as file:
            records.append(json.load(file))
    results = [case for record in records for case in record["results"]]
    columns = {}
    for size in dict.fromkeys(tuple(case["size"]) for case in results):
        columns["%d×%d" % size] = column([case for case in results if tuple(case["size"]) == size],
                                          records[0].get("search", "auto"))
    print("| | " + " | ".join(columns) + " |")
    print("|---|" + "---:|" * len(columns))
    for row in next(iter(columns.values())):
        print("| %s | %s |" % (row, " | ".join(c[row] for c in columns.values())))
    print("\nMeasured: %(device)s, %(kernels)s kernels, OpenCV %(opencv)s, commit %(commit)s." % records[0])


if __name__ == "__main__":
    main()
