#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Draws the thesis's diagrams from bench/results as SVG, to docs/plots: time over
outcome size beside cuFFT, and GFLOPS over outcome size beside the Tesla C1060;
and time over template size, where FFT gets faster than direct."""

import argparse
import math
import os
import sys
from xml.etree import ElementTree
from xml.sax.saxutils import escape

import results

PLOTS = os.path.join(results.HERE, "..", "docs", "plots")
WIDTH, HEIGHT = 900, 540
LEFT, RIGHT, TOP, BOTTOM = 108, 200, 76, 62
INK, MUTED, GRID, MINOR, PAPER = "#1f2328", "#59636e", "#d8dee4", "#eef1f4", "#fcfcfb"
COLOURS = ["#0b62a4", "#c4500a", "#1a7f4b"]
MARKS = ["circle", "square", "triangle"]
FONT = "font-family=\"system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif\""


class Series:
    """points: (x, y). style: 'solid', 'dash' or 'dot'. key: which colour and mark."""

    def __init__(self, label, points, key, style="solid", marks=True):
        self.label, self.points, self.key = label, sorted(points), key
        self.style, self.marks = style, marks


DASHES = {"solid": "", "dash": ' stroke-dasharray="8 5"', "dot": ' stroke-dasharray="2 4"'}


class Scale:
    """Logarithmic, from data to pixels."""

    def __init__(self, low, high, start, end):
        self.low, self.high, self.start, self.end = math.log(low), math.log(high), start, end

    def __call__(self, value):
        part = (math.log(value) - self.low) / (self.high - self.low)
        return self.start + part * (self.end - self.start)


def text(x, y, content, size=13, anchor="start", colour=INK, extra=""):
    return '<text x="%.1f" y="%.1f" font-size="%g" text-anchor="%s" fill="%s"%s>%s</text>' % (
        x, y, size, anchor, colour, extra and " " + extra, escape(content))


def line(x1, y1, x2, y2, colour, width=1.0, extra=""):
    return '<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="%s" stroke-width="%g"%s/>' % (
        x1, y1, x2, y2, colour, width, extra)


def mark(kind, x, y, colour, hollow=False):
    style = 'fill="%s" stroke="%s" stroke-width="1.6"' % (PAPER if hollow else colour, colour)
    if kind == "square":
        return '<rect x="%.1f" y="%.1f" width="7.6" height="7.6" %s/>' % (x - 3.8, y - 3.8, style)
    if kind == "triangle":
        return '<path d="M%.1f %.1fl4.8 8.4h-9.6z" %s/>' % (x, y - 5.2, style)
    return '<circle cx="%.1f" cy="%.1f" r="4.1" %s/>' % (x, y, style)


def plain(value):
    """1000 as 1 000, 0.01 as 0.01."""
    return format(value, ",.0f").replace(",", "\u2009") if value >= 1 else "%g" % value


def decades(low, high):
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    return [10.0 ** e for e in range(first, last + 1)]


def frame_of_axes(x, y, x_ticks, y_ticks, x_label, y_label):
    out = []
    bottom, right = HEIGHT - BOTTOM, WIDTH - RIGHT
    for value in y_ticks:
        for digit in range(2, 10):
            if digit * value < y_ticks[-1]:
                out.append(line(LEFT, y(digit * value), right, y(digit * value), MINOR))
    for value in y_ticks:
        out.append(line(LEFT, y(value), right, y(value), GRID))
        out.append(text(LEFT - 10, y(value) + 4.5, plain(value), 13, "end", MUTED))
    for value in x_ticks:
        out.append(line(x(value), TOP, x(value), bottom, GRID))
        out.append(line(x(value), bottom, x(value), bottom + 5, MUTED))
        out.append(text(x(value), bottom + 21, plain(value) + "²", 13, "middle", MUTED))
    out.append('<rect x="%g" y="%g" width="%g" height="%g" fill="none" stroke="%s"/>' % (
        LEFT, TOP, right - LEFT, bottom - TOP, MUTED))
    out.append(text((LEFT + right) / 2, HEIGHT - 16, x_label, 14, "middle"))
    out.append(text(22, (TOP + bottom) / 2, y_label, 14, "middle", INK,
                    'transform="rotate(-90 22 %.1f)"' % ((TOP + bottom) / 2)))
    return out


def polyline(series, x, y):
    colour, kind = COLOURS[series.key], MARKS[series.key]
    path = " ".join("%.1f,%.1f" % (x(px), y(py)) for px, py in series.points)
    out = ['<polyline points="%s" fill="none" stroke="%s" stroke-width="%g" '
           'stroke-linejoin="round"%s/>' % (path, colour, 2.4 if series.style == "solid" else 1.7,
                                            DASHES[series.style])]
    if series.marks:
        out += [mark(kind, x(px), y(py), colour, series.style != "solid")
                for px, py in series.points]
    return out


def legend(groups):
    """groups: (heading, series). To the right of the axes."""
    out, at, left = [], TOP + 8, WIDTH - RIGHT + 18
    for heading, members in groups:
        if not members:
            continue
        out.append(text(left, at, heading, 13, extra='font-weight="600"'))
        at += 21
        for series in members:
            colour = COLOURS[series.key]
            out.append(line(left, at - 4.5, left + 36, at - 4.5, colour,
                            2.4 if series.style == "solid" else 1.7, DASHES[series.style]))
            if series.marks:
                out.append(mark(MARKS[series.key], left + 18, at - 4.5, colour,
                                series.style != "solid"))
            out.append(text(left + 46, at, series.label, 13))
            at += 21
        at += 12
    return out


def chart(title, subtitle, x_label, y_label, x_ticks, groups):
    """The SVG, or None where there is nothing to draw."""
    drawn = [series for _, members in groups for series in members if series.points]
    groups = [(heading, [s for s in members if s.points]) for heading, members in groups]
    if not drawn:
        return None
    values = [py for series in drawn for _, py in series.points]
    sizes = [px for series in drawn for px, _ in series.points] + x_ticks
    y_ticks = decades(min(values), max(values))
    x = Scale(min(sizes) / 1.12, max(sizes) * 1.12, LEFT, WIDTH - RIGHT)
    y = Scale(y_ticks[0], y_ticks[-1], HEIGHT - BOTTOM, TOP)
    out = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" '
           'role="img" aria-label="%s" %s>' % (WIDTH, HEIGHT, WIDTH, HEIGHT,
                                               escape(title, {'"': "&quot;"}), FONT),
           '<rect width="%d" height="%d" rx="8" fill="%s"/>' % (WIDTH, HEIGHT, PAPER),
           text(LEFT, 32, title, 18, extra='font-weight="600"'),
           text(LEFT, 55, subtitle, 13, colour=MUTED)]
    out += frame_of_axes(x, y, x_ticks, y_ticks, x_label, y_label)
    # the important lines last, so that they lie on top
    for series in sorted(drawn, key=lambda s: s.style == "solid"):
        out += polyline(series, x, y)
    return "\n".join(out + legend(groups) + ["</svg>"]) + "\n"


def measured(documents, algorithm, metric, size, tables, value):
    return [(row["map"][0], value(row, results.median(row)))
            for row in results.rows(documents, suite="thesis", algorithm=algorithm, metric=metric)
            if row["template"] == [size, size] and row["table"] in tables and
            results.on_gpu(row) and results.median(row)]


def printed(metric, size, tables, key):
    return [(row["outcome"], row[key]) for row in results.thesis_rows()
            if row["metric"] == metric and row["template"] == size and row["table"] in tables]


NAMES = {"lcc": "Local correlation coefficient", "ccorr": "Correlation"}


def time_chart(documents, metric, where):
    tables, sizes = (2, 4), (4, 8, 16)
    ms = lambda row, time: time
    groups = [(heading, [Series("%d² template" % size,
                                measured(documents, algorithm, metric, size, tables, ms), key, style)
                         for key, size in enumerate(sizes)])
              for heading, algorithm, style in (("tmatch, direct", "direct", "solid"),
                                                ("cuFFT, whole frame", "cufft", "dash"))]
    groups.append(("Thesis, Tesla C1060",
                   [Series("%d² template" % size, printed(metric, size, tables, "kernel_ms"), key,
                           "dot", False) for key, size in enumerate(sizes)]))
    if not any(series.points for series in groups[0][1]):
        return None
    return chart(NAMES[metric] + ": kernel time over the size of the outcome", where,
                 "outcome (frame + template − 1), pixels", "time, ms",
                 [2 ** e for e in range(7, 15)], groups)


def gflops_chart(documents, metric, where):
    tables, sizes = (1, 3), (5, 16, 21)
    groups = [(heading, [Series("%d² template" % size,
                                measured(documents, algorithm, metric, size, tables, results.gflops),
                                key, style, marks)
                         for key, size in enumerate(sizes)])
              for heading, algorithm, style, marks in (
                  ("tmatch, direct", "direct", "solid", True),
                  ("Thesis's kernel here", "thesis-gpu", "dot", False))]
    groups.append(("Thesis, Tesla C1060",
                   [Series("%d² template" % size, printed(metric, size, tables, "gpu_gflops"), key,
                           "dash") for key, size in enumerate(sizes)]))
    if not any(series.points for series in groups[0][1]):
        return None
    count = "5n + 5" if metric == "lcc" else "2n"
    return chart(NAMES[metric] + ": GFLOPS by the thesis's count", where,
                 "outcome (frame + template − 1), pixels",
                 "GFLOPS, %s operations an element" % count,
                 [100, 200, 500, 1000, 2000, 5000, 10000], groups)


def crossing_chart(documents, where):
    frames = (2048, 4096)

    def series(algorithm, frame):
        return [(row["template"][0], results.median(row))
                for row in results.rows(documents, suite="crossing", algorithm=algorithm)
                if row["frame"] == [frame, frame] and results.on_gpu(row) and results.median(row)]

    groups = [(heading, [Series("%d² frame" % frame, series(algorithm, frame), key, style)
                         for key, frame in enumerate(frames)])
              for heading, algorithm, style in (("tmatch, direct", "direct", "solid"),
                                                ("tmatch, FFT", "fft", "dash"),
                                                ("cuFFT, float", "cufft", "dot"))]
    if not groups[1][1][0].points and not groups[1][1][1].points:
        return None
    return chart("Where FFT gets faster: kernel time over the template's size", where,
                 "template, pixels", "time, ms (LCC, with the map)", [24, 32, 48, 64, 96, 128, 192, 256],
                 groups)


def draw_all(documents):
    gpu = results.gpu_name(documents)
    where = "%s; resident on the device, medians of one run" % gpu
    charts = {}
    for metric, name in (("lcc", "lcc"), ("ccorr", "correlation")):
        charts["time-%s.svg" % name] = time_chart(documents, metric, where)
        charts["gflops-%s.svg" % name] = gflops_chart(documents, metric, where)
    charts["crossing.svg"] = crossing_chart(documents, where)
    return {name: svg for name, svg in charts.items() if svg}


def self_check():
    row = {"suite": "thesis", "metric": "lcc", "template": [16, 16], "algorithm": "direct",
           "device": "cuda:0", "status": "ok", "map": [128, 128], "table": 4,
           "kernel_ms": {"median": 0.01}}
    machine = {"gpus": [{"name": "A & <B>"}]}
    documents = {"x": {"machine": machine, "results": [row, {**row, "table": 3}], "missing": []}}
    charts = draw_all(documents)
    assert sorted(charts) == ["gflops-lcc.svg", "time-lcc.svg"], charts.keys()
    for svg in charts.values():
        ElementTree.fromstring(svg)
    assert not draw_all({"x": {"machine": machine, "results": [], "missing": []}})


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("results", nargs="*", help="JSON files (default: all of bench/results)")
    parser.add_argument("--out", default=PLOTS)
    parser.add_argument("--check", action="store_true", help="test this script and stop")
    options = parser.parse_args()
    if options.check:
        self_check()
        return 0
    charts = draw_all(results.load(options.results))
    if charts:
        os.makedirs(options.out, exist_ok=True)
    for name, svg in charts.items():
        with open(os.path.join(options.out, name), "w", encoding="utf-8") as out:
            out.write(svg)
    print("\n".join(sorted(charts)) if charts else "no results of a GPU to draw")
    return 0


if __name__ == "__main__":
    sys.exit(main())
