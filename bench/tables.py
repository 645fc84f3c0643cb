#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the tables of docs/performance.md and docs/lab from bench/results, between the
markers <!-- bench:NAME --> and <!-- end -->. What lies outside them is left alone."""

import argparse
import glob
import math
import os
import re
import sys

import certified_tables
import results

DOCS = os.path.join(results.HERE, "..", "docs")
NOTHING = "Not measured yet: `bench/gpu.sh` makes the results."

# What one H200 is to reach: frame, template, output, templates, limit in ms, aim in ms, words.
TARGETS = [
    ([5020, 5020], [21, 21], "map", 1, 0.10, 0.06, "5020², 21², map"),
    ([5020, 5020], [21, 21], "best", 1, 0.07, 0.04, "5020², 21², best match"),
    ([2080, 2080], [21, 21], "map", 1, 0.025, None, "2080², 21², map"),
    ([4096, 4096], [64, 64], "best", 1, 0.26, None, "4096², 64², best match"),
    ([4096, 4096], [128, 128], "best", 1, 0.85, None, "4096², 128², best match"),
    ([11572, 11572], [21, 21], "map", 1, 0.5, None, "11572², 21², map"),
    ([1920, 1080], [32, 32], "best", 64, None, None, "1920×1080, 64 of 32², best match"),
]

# The same by FFT; frame, template: milliseconds.
LARGE_TARGETS = {(4096, 128): 0.8, (4096, 256): 0.9, (2048, 256): 0.3, (16384, 512): 16}

OURS = ("direct", "direct-many", "fft", "reference")

# Dense 8-bit multiply-adds a second of the tensor cores, by the vendor's datasheet.
PEAK_MACS = {"H200": 989.5e12, "H100": 989.5e12, "A100": 312e12}


def table(header, lines, left=1):
    rule = ["---"] * left + ["---:"] * (len(header) - left)
    return "\n".join("| " + " | ".join(cells) + " |" for cells in [header, rule] + lines)


def number(value):
    """Three digits, more only for whole numbers."""
    if value is None:
        return "–"
    if value == 0:
        return "0"
    if abs(value) < 1e-3:
        return "%.1e" % value
    return "%.*f" % (max(0, 2 - math.floor(math.log10(abs(value)))), value)


def times(row, key="kernel_ms"):
    spread = row.get(key) if row and row["status"] == "ok" else None
    if not spread:
        return "–"
    return "%s (%s to %s)" % (number(spread["median"]), number(spread["q1"]), number(spread["q3"]))


def size(pair):
    return "%d²" % pair[0] if pair[0] == pair[1] else "%d×%d" % tuple(pair)


def pick(rows, **wanted):
    """The row with these fields; the GPU's before the CPU's, more threads before
    fewer, with the map before without."""
    found = [row for row in rows if all(row.get(key) == value for key, value in wanted.items())]
    found.sort(key=lambda row: (not results.on_gpu(row), -row.get("threads", 0),
                              row["output"] != "map"))
    return found[0] if found else None


# Floors.

def machine_limits(document):
    """Bytes and 8-bit multiply-adds a second of the GPU, None where not known."""
    gpus = document.get("machine", {}).get("gpus", [])
    macs = next((rate for name, rate in PEAK_MACS.items() if gpus and name in gpus[0]["name"]), None)
    return document.get("machine", {}).get("copy_rate") or None, macs


def floors(row, limits):
    """Milliseconds for the bytes that must move and for the products that must be
    made; every byte of frame and map once, every tap of every element once."""
    elements = row["map"][0] * row["map"][1]
    taps = row["template"][0] * row["template"][1]
    element_bytes = {"lcc": 4, "ccorr": 8}[row["metric"]] if row["output"] == "map" else 0
    moved = row["frame"][0] * row["frame"][1] + elements * element_bytes + taps * row["templates"]
    products = elements * taps * row["templates"]
    return (moved / limits[0] * 1e3 if limits[0] else None,
            products / limits[1] * 1e3 if limits[1] else None)


# The blocks.

def block_runs(documents):
    lines = []
    for name, d in documents.items():
        m = d.get("machine")
        if not m:
            continue
        gpu = "; ".join("%s, driver %s, %s" % (g["name"], g["driver"], g["detail"]) for g in m["gpus"])
        lines.append([name, gpu or "none", "%s, %d threads" % (m["cpu"], m["threads"]),
                      "%s%s" % (m["commit"][:12], " with changes" if m["dirty"] else ""),
                      m["date"][:10], "`%s`" % m["command"],
                      "%.2f TB/s" % (m["copy_rate"] / 1e12) if m["copy_rate"] else "–"])
    absent = sorted({"%s: %s" % (row["algorithm"], row["note"]) for d in documents.values()
                     for row in d["missing"]})
    out = table(["results", "GPU", "CPU", "commit", "date", "command", "device copy"], lines, 7)
    return out + ("\n\nMissing there: " + "; ".join(absent) + "." if absent else "")


def best_peer(rows, target):
    """The quickest whole-map LCC of another program on a GPU, of one template."""
    if target[3] > 1:
        return None
    peers = [row for row in rows if row["frame"] == target[0] and row["template"] == target[1] and
             row["algorithm"] not in OURS and row["metric"] == "lcc" and row["domain"] == "valid" and
             results.on_gpu(row) and results.median(row)]
    return min(peers, key=results.median) if peers else None


def target_line(document, target):
    frame, template, output, templates, limit, aim, words = target
    rows = document["results"]
    single = pick(rows, suite="targets", algorithm="direct", frame=frame, template=template,
                  output=output, templates=templates)
    ours = single if templates == 1 else pick(rows, suite="targets", algorithm="direct-many",
                                              frame=frame, template=template)
    if not ours or not results.on_gpu(ours) or not results.median(ours):
        return [words] + ["–"] * 8
    ms, peer = results.median(ours), best_peer(rows, target)
    memory, products = floors(ours, machine_limits(document))
    floor = max(memory or 0, products or 0)
    wanted = "≤ %g ms" % limit + (", aim %g" % aim if aim else "") if limit else "–"
    reached = ("yes" if ms <= limit else "no") if limit else "–"
    if templates > 1 and results.median(single):
        factor = results.median(single) / ms
        wanted = "twice as fast as %d single calls" % templates
        reached = "%s, %.1f×" % ("yes" if factor >= 2 else "no", factor)
    return [words, times(ours), wanted, reached,
            times(ours, "cold_ms"), number(memory), number(products),
            "%.0f %%" % (100 * floor / ms) if floor else "–",
            "%s %s, %.0f×" % (peer["algorithm"], number(results.median(peer)),
                              results.median(peer) / ms) if peer else "–"]


def block_targets(documents):
    return "\n\n".join(
        table(["frame, template", "kernel ms (quartiles)", "to reach", "reached", "cold ms",
               "floor: bytes", "floor: products", "share of floor", "best peer on the GPU"],
              [target_line(document, target) for target in TARGETS])
        for document in documents.values()
        if any(row["suite"] == "targets" for row in document["results"]))


def block_peers(documents):
    rows = [row for row in results.rows(documents) if row["suite"] in ("targets", "peers") and
            row["templates"] == 1 and row["domain"] == "valid" and row["algorithm"] != "thesis-cpu"]
    sizes = sorted({(tuple(row["frame"]), tuple(row["template"])) for row in rows})
    kinds = sorted({(not results.on_gpu(row), row["algorithm"] != "direct", row["algorithm"],
                     row.get("threads", 0)) for row in rows if results.median(row)})
    lines = []
    for cpu, _, algorithm, threads in kinds:
        cells, worst = [], 0.0
        for frame, template in sizes:
            row = pick(rows, algorithm=algorithm, frame=list(frame), template=list(template),
                       **({"threads": threads} if threads else {}))
            if row and results.on_gpu(row) == cpu:
                row = None
            cells.append(number(results.median(row)) if row else "–")
            if results.median(row):
                worst = max(worst, row.get("max_abs_error", math.nan))
        place = "CPU, %d thread%s" % (threads, "" if threads == 1 else "s") if cpu else "GPU"
        name = {"direct": "**tmatch**", "fft": "**tmatch, FFT**"}.get(algorithm, algorithm)
        lines.append([name, place] + cells + ["%.1e" % worst if worst else "0"])
    head = ["ms", "on"] + ["%s, %s" % (size(f), size(t)) for f, t in sizes] + ["largest error"]
    return table(head, lines, 2) if lines else ""


def thesis_line(rows, printed):
    frame, taps = int(printed["frame"]), int(printed["template"])
    here = [row for row in rows if row["table"] == printed["table"] and
            row["frame"] == [frame, frame] and row["template"] == [taps, taps]]
    ours = next((row for row in here if row["algorithm"] == "direct" and results.on_gpu(row)), None)
    core = pick([row for row in here if not results.on_gpu(row)], algorithm="direct", threads=1)
    plain, theirs = pick(here, algorithm="thesis-cpu"), pick(here, algorithm="thesis-gpu")
    fft = pick(here, algorithm="cufft")
    ms = results.median(ours)

    def factor(row):
        return "%.0f" % (results.median(row) / ms) if ms and results.median(row) else "–"

    return ["%d²" % taps, "%d²" % frame, number(results.median(ours, "to_device_ms")),
            number(results.median(ours, "from_device_ms")), number(ms),
            number(results.gflops(ours, ms)) if ms else "–",
            number(ours["relative_error"]) if ms else "–",
            number(ours["max_abs_error"]) if ms else "–", factor(core), factor(plain),
            number(results.median(theirs)), number(results.median(fft)),
            number(printed["kernel_ms"]) + ("\\*" if printed["note"] else ""),
            number(printed["gpu_gflops"]), number(printed["acceleration"])]


def block_thesis(which):
    def block(documents):
        rows = results.rows(documents, suite="thesis")
        if not any(results.on_gpu(row) for row in rows):
            return ""
        head = ["template", "frame", "data in ms", "data out ms", "kernel ms", "GFLOPS",
                "relative error", "largest error", "× one core", "× thesis's CPU code",
                "thesis's kernel ms", "cuFFT ms", "C1060: kernel ms", "GFLOPS", "× its core"]
        return table(head, [thesis_line(rows, printed) for printed in results.thesis_rows()
                            if printed["table"] == which], 2)
    return block


def block_large(documents):
    """Templates for FFT beside cuFFT on the whole frame."""
    lines = []
    rows = results.rows(documents, suite="large")
    for frame, template in sorted({(tuple(r["frame"]), tuple(r["template"])) for r in rows},
                                  key=lambda sizes: (sizes[0][0] * sizes[1][0])):
        here = [r for r in rows if tuple(r["frame"]) == frame and tuple(r["template"]) == template]
        best = pick(here, algorithm="fft", metric="lcc", output="best")
        ms = results.median(best)
        if not ms:
            continue
        target = LARGE_TARGETS.get((frame[0], template[0]))
        cells = ["%s, %s" % (size(frame), size(template)), times(best),
                 "≤ %g ms" % target if target else "–",
                 ("yes" if ms <= target else "no") if target else "–"]
        cells += [number(results.median(pick(here, algorithm=algorithm, metric=metric, output=output)))
                  for algorithm, metric, output in (("direct", "lcc", "best"), ("fft", "lcc", "map"),
                                                    ("cufft", "ccorr", "map"), ("cufft", "lcc", "map"),
                                                    ("cufft-double", "ccorr", "map"))]
        double = results.median(pick(here, algorithm="cufft-double", metric="lcc", output="map"))
        lines.append(cells + [number(double), "%.1f×" % (double / ms) if double else "–"])
    head = ["frame, template", "FFT, best match, ms (quartiles)", "to reach", "reached",
            "direct, best match", "FFT, map", "cuFFT float, transforms", "cuFFT float, LCC",
            "cuFFT double, transforms", "cuFFT double, LCC", "over the first"]
    return table(head, lines) if lines else ""


def block_crossing(documents):
    rows = results.rows(documents, suite="crossing")
    lines = []
    for frame, template in sorted({(tuple(r["frame"]), tuple(r["template"])) for r in rows}):
        here = [r for r in rows if tuple(r["frame"]) == frame and tuple(r["template"]) == template]
        lines.append([size(frame), size(template)] +
                     [number(results.median(pick(here, algorithm=name)))
                      for name in ("direct", "fft", "cufft", "cufft-double")])
    head = ["frame", "template", "direct", "FFT", "cuFFT, float", "cuFFT, double"]
    return table(head, lines, 2) if lines else ""


def estimate(row, name):
    found = re.search(r"estimates[^:]*: .*?\b%s ([0-9.e+-]+) ms" % name, row.get("plan", ""))
    return float(found[1]) if found else None


def whole_call(row):
    """On the CPU the kernel is the call, and older results have it alone."""
    return results.median(row, "call_ms") or results.median(row)


def block_grid(suite, on_gpu):
    def block(documents):
        rows = [r for r in results.rows(documents, suite=suite) if results.on_gpu(r) == on_gpu]
        lines, losses = [], []
        for frame, template in sorted({(tuple(r["frame"]), tuple(r["template"])) for r in rows}):
            here = [r for r in rows if tuple(r["frame"]) == frame and tuple(r["template"]) == template]
            auto = pick(here, algorithm="auto")
            ms = {name: whole_call(pick(here, algorithm=name)) for name in ("direct", "fft")}
            known = {name: value for name, value in ms.items() if value}
            chosen = auto["plan"].split(" ")[0]
            if chosen not in known:
                continue
            # by what was measured of the algorithms: two runs of one differ by noise
            losses.append(known[chosen] / min(known.values()) - 1)
            lines.append([size(frame), size(template), number(ms["direct"]),
                          number(estimate(auto, "direct")), number(ms["fft"]),
                          number(estimate(auto, "fft")), chosen, number(whole_call(auto)),
                          "%.0f %%" % (100 * losses[-1])])
        if not lines:
            return ""
        head = ["frame", "template", "direct ms", "estimate", "FFT ms", "estimate", "auto takes",
                "auto ms", "loses"]
        return table(head, lines, 2) + "\n\n%d sizes; the worst choice loses %.0f %%, %d lose more than 15 %%." % (
            len(lines), 100 * max(losses), sum(loss > 0.15 for loss in losses))
    return block


def block_certified(block):
    return lambda documents: block(certified_tables.load(certified_tables.FILES), table)


BLOCKS = {"certified": block_certified(certified_tables.present),
          "certified-others": block_certified(certified_tables.others), "large": block_large, "crossing": block_crossing, "grid-gpu": block_grid("grid", True),
          "grid-gpu-pinned": block_grid("grid-pinned", True), "grid-cpu": block_grid("grid", False),
          "runs": block_runs, "targets": block_targets, "peers": block_peers, "thesis-1": block_thesis(1), "thesis-2": block_thesis(2),
          "thesis-3": block_thesis(3), "thesis-4": block_thesis(4)}


def fill(texts, documents):
    """The texts by path, with their tables; each table is in one of them."""
    def replace(match):
        if match[1] not in BLOCKS:
            raise SystemExit("no such table: %s" % match[1])
        found.append(match[1])
        body = (BLOCKS[match[1]](documents) if documents else "") or NOTHING
        return "<!-- bench:%s -->\n\n%s\n\n<!-- end -->" % (match[1], body)
    found = []
    filled = {path: re.sub(r"<!-- bench:([\w-]+) -->.*?<!-- end -->", replace, text, flags=re.S)
              for path, text in texts.items()}
    if sorted(found) != sorted(BLOCKS):
        raise SystemExit("%d tables are in the documents, %d of %d different ones" %
                         (len(found), len(set(found)), len(BLOCKS)))
    return filled


def read_documents():
    texts = {}
    for path in [os.path.join(DOCS, "performance.md")] + sorted(glob.glob(os.path.join(DOCS, "lab", "*.md"))):
        with open(path, encoding="utf-8") as file:
            texts[path] = file.read()
    return texts


def self_check():
    row = {"suite": "targets", "metric": "lcc", "domain": "valid", "frame": [5020, 5020],
           "template": [21, 21], "map": [5000, 5000], "output": "map", "templates": 1,
           "algorithm": "direct", "device": "cuda:0", "status": "ok", "max_abs_error": 0,
           "relative_error": 0,
           "kernel_ms": {"median": 0.1, "q1": 0.09, "q3": 0.2}}
    peer = {**row, "algorithm": "npp-normlevel", "kernel_ms": {"median": 9, "q1": 9, "q3": 9},
            "max_abs_error": 1e-6}
    gone = {**row, "algorithm": "cufft", "status": "failed", "note": "x"}
    machine = {"gpus": [{"name": "NVIDIA H200", "driver": "1", "detail": "d"}], "cpu": "c",
               "threads": 1, "commit": "0" * 40, "dirty": False, "date": "2000-01-01",
               "command": "x", "copy_rate": 4e12}
    thesis = {**row, "suite": "thesis", "table": 3, "template": [5, 5], "frame": [106, 106],
              "map": [110, 110], "domain": "full"}
    documents = {"x": {"machine": machine, "missing": [], "results": [row, peer, gone, thesis]}}
    texts = fill(read_documents(), documents)
    filled = "".join(texts.values())
    assert "npp-normlevel 9.00, 90×" in filled and "0.100 (0.0900 to 0.200)" in filled
    assert "≤ 0.1 ms, aim 0.06 | yes" in filled
    assert fill(texts, documents) == texts
    assert NOTHING in "".join(fill(texts, {}).values())


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("results", nargs="*", help="JSON files (default: all of bench/results)")
    parser.add_argument("--check", action="store_true", help="test this script and stop")
    parser.add_argument("--print", action="store_true", help="write to standard output")
    options = parser.parse_args()
    if options.check:
        self_check()
        return 0
    texts = read_documents()
    for path, filled in fill(texts, results.load(options.results)).items():
        if options.print:
            print(filled)
        elif filled != texts[path]:
            with open(path, "w", encoding="utf-8") as file:
                file.write(filled)
    return 0


if __name__ == "__main__":
    sys.exit(main())
