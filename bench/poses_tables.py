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


def only_matches(cases, least):
    return ms([{"ms": c["only_matches_ms"][least]} for c in cases if c["frame"] == [512, 512] and "only_matches_ms" in c])


def medians(*kinds):
    return ", ".join("%.0f" % statistics.median(case["ms"] for case in cases) for cases in kinds)


def same(cases):
    return share(case["same"] for case in cases if "same" in case)


def gain(results, who, search):
    """How many times as long the other took, on the frames that both had."""
    ours = {(case["kind"], case["number"]): case["ms"] for case in results if case["by"] == search}
    ratios = [case["ms"] / ours[case["kind"], case["number"]] for case in results if case["by"] == who]
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
                 "the same, only matches of 0.8": only_matches(absent, "0.8"),
                 "the same, only matches of 0.9": only_matches(absent, "0.9"),
                 "absent, yet above 0.8": share(c["best"] > 0.8 for c in absent),
                 "%s, one target" % search.replace("auto", "certified"):
                     share(c["algorithm"] == search.replace("auto", "certified") for c in one)})
    if search == "pyramid":
        rows["auto: time, found"] = gain(results, "auto", search)
        rows["the same as auto"] = same(c for c in results if c["by"] == "auto")
        return rows
    return rows


PEERS = {"auto": "tmatch", "exhaustive": "tmatch, exhaustive", "opencv": "OpenCV, loop, masks",
         "mtm": "MultiTemplateMatching", "mtm masked": "MultiTemplateMatching, masks"}


def beside(results):
    """(program, what, cell) on the frames that all programs of the file had."""
    whos = [who for who in PEERS if any(case["by"] == who for case in results)]
    common = set.intersection(*({(c["kind"], c["number"]) for c in results if c["by"] == who} for who in whos))
    for who in whos:
        own = [c for c in results if c["by"] == who and (c["kind"], c["number"]) in common]
        one, five, absent = ([c for c in own if c["kind"] == kind] for kind in ("one", "five", "absent"))
        yield PEERS[who], "one target", found(one)
        yield PEERS[who], "five, of the unambiguous", found(c for c in five if c["unambiguous"])
        yield PEERS[who], "error, px; degrees", "%s; %s" % (errors(one + five, 0), errors(one + five, 1))
        yield PEERS[who], "absent, yet above 0.8", share(c["best"] > 0.8 for c in absent)
        yield PEERS[who], "ms: one, five, absent", medians(one, five, absent)


def others(columns):
    rows, last = {}, None
    for results in columns.values():
        for who, what, cell in beside(results):
            rows.setdefault((who, what), []).append(cell)
    for (who, what), cells in rows.items():
        yield "| %s | %s |" % (("" if who == last else who + " ") + "| " + what, " | ".join(cells))
        last = who


def main():
    records = []
    for path in sys.argv[1:]:
        with open(path, encoding="utf-8") as file:
            records.append(json.load(file))
    results = [case for record in records for case in record["results"]]
    search = records[0].get("search", "auto")
    columns = {"%d×%d" % size: [case for case in results if tuple(case["size"]) == size]
               for size in dict.fromkeys(tuple(case["size"]) for case in results)}
    own = [column(cases, search) for cases in columns.values()]
    print("| | " + " | ".join(columns) + " |")
    print("|---|" + "---:|" * len(columns))
    for row in own[0]:
        if any(c[row] != "–" for c in own):
            print("| %s | %s |" % (row, " | ".join(c[row] for c in own)))
    if any(case["by"] == "opencv" for case in results):
        print("\n| | | " + " | ".join(columns) + " |")
        print("|---|---|" + "---:|" * len(columns))
        print("\n".join(others(columns)))
    load = [l for record in records for l in record["load"]]
    print("\nMeasured: %(device)s, %(kernels)s kernels, OpenCV %(opencv)s, commit %(commit)s," % records[0],
          "MultiTemplateMatching %s," % records[0].get("mtm", "not there"), "load %g to %g." % (min(load), max(load)))


if __name__ == "__main__":
    main()
