#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Fits the cost models of the devices to what tmatch-bench costs measured and
writes src/cpu/costs.h and src/cuda/costs.h: bench/fit_costs.py FILE.json...
Kinds that the files lack keep the values that the headers have (the CPU's come
from one machine, a GPU's from another)."""
import json
import re
import sys
from pathlib import Path

MULTIPROCESSORS = 132  # of the H200
SHARED_MEMORY = 227 << 10  # that a block may have there
TENSOR_TAPS = 65793
NEAR_FFT_MS = 0.03  # below, no estimate changes the choice
NEAR_FFT_TAPS = 72 * 72  # smaller templates count little: other kernels, far from FFT
SOURCES = Path(__file__).resolve().parent.parent / "src"
HEADERS = {device: SOURCES / device / "costs.h" for device in ("cpu", "cuda")}


def fit(rows, times, rounds=20000, weights=None):
    """Non-negative x that minimises the squares of weighted relative errors of
    rows * x, one coordinate after the other."""
    weights = weights or [1.0] * len(rows)
    weighted = [[value * weight / t for value in row] for row, t, weight in zip(rows, times, weights)]
    count = len(rows[0])
    x = [0.0] * count
    squares = [sum(row[j] ** 2 for row in weighted) for j in range(count)]
    residual = [-weight for weight in weights]
    for _ in range(rounds):
        moved = 0.0
        for j in range(count):
            if not squares[j]:
                continue
            slope = sum(row[j] * r for row, r in zip(weighted, residual))
            step = max(-slope / squares[j], -x[j])
            if step:
                x[j] += step
                residual = [r + step * row[j] for r, row in zip(residual, weighted)]
                moved = max(moved, abs(step) / (x[j] + 1e-30))
        if moved < 1e-6:
            break
    return x, max(abs(r) / weight for r, weight in zip(residual, weights))


def direct_row(m):
    (width, height), (w, h) = m["map"], m["template"]
    if m["kind"] == "cpu-direct":  # made_width in src/cpu/estimate.c
        width = -(-width // 64) * 64
    windows = width * height
    row = [windows * h, windows * h * w]
    return [windows] + row if m["kind"] == "cpu-direct" else row


def fit_direct(measured):
    """window (the CPU's alone), row and tap of the direct algorithm."""
    x, worst = fit([direct_row(m) for m in measured], [m["ms"] * 1e6 for m in measured])
    print(f"{measured[0]['kernels']}: direct, worst {worst:.0%}", file=sys.stderr)
    return x


def tensor_load(m):
    """Windows and blocks of a multiprocessor: tensor_load_of in src/cuda/estimate.c, and the layout
    of shared memory in src/lcc/cuda/tensor/limits.h."""
    (width, height), (w, h) = m["map"], m["template"]
    tiles = -(-width // 256) * -(-height // 16)
    packs = h <= 31 and w * h <= 33025
    each, words = 1 if packs else 2, (256 + w + 2) // 4
    narrow = packs and w <= 25
    pitch = (283 // 4 + 1) | 1 if narrow else (each * words + 1) | 1
    sums = 16 * (16 * max(pitch, 129) + each * words)
    size = (h + 15) * (288 if narrow else 256 + (w + 22) // 16 * 16) + sums + 256
    blocks = 2 if (SHARED_MEMORY + 1024) // (size + 1024) > 1 and tiles > MULTIPROCESSORS else 1
    slots = blocks * MULTIPROCESSORS
    return -(-tiles // slots) * blocks * 256 * 16, blocks


def fit_tensor(measured):
    """call, window, row and step of the tensor cores, and a lone block's step."""
    rows = []
    for m in measured:
        (windows, blocks), (w, h) = tensor_load(m), m["template"]
        steps = windows * h * ((w + 22) // 16)
        rows.append([1.0, windows, windows * h, steps if blocks > 1 else 0, steps if blocks == 1 else 0])
    near = [m["template"][0] * m["template"][1] >= NEAR_FFT_TAPS for m in measured]
    x, worst = fit(rows, [m["ms"] * 1e6 for m in measured], weights=[1.0 if n else 0.3 for n in near])
    print(f"cuda: tensor cores, worst {worst:.0%}", file=sys.stderr)
    return x


def fft_features(m):
    (lx, ly), (across, down) = m["length"], m["tiles"]
    rows = across * (2 * m["range_y"] + m["template"][1]) * lx
    return rows, across * down * lx * ly, m["map"][0] * m["map"][1]


def fit_cpu_fft(lengths, measured):
    """window, and what the transforms take in place beside what their lengths take alone."""
    rows, times = [], []
    for m in measured:
        row_points, points, windows = fft_features(m)
        known = row_points * lengths[m["length"][0]] + 2 * points * lengths[m["length"][1]]
        rows.append([windows, known])
        times.append(m["ms"] * 1e6)
    x, worst = fit(rows, times)
    print(f"cpu: fft, worst {worst:.0%}, transforms by {x[1]:.2f}", file=sys.stderr)
    return x


def fit_cuda_fft(measured):
    """The lengths; window, window's row, call and the call's row."""
    places = sorted({length for m in measured for length in m["length"]})
    rows, times = [], []
    for m in measured:
        row_points, points, windows = fft_features(m)
        row = [0.0] * len(places)
        row[places.index(m["length"][0])] += row_points
        row[places.index(m["length"][1])] += 2 * points
        h = m["template"][1]
        rows.append(row + [windows, windows * h, 1.0, h])
        times.append(m["ms"] * 1e6)
    x, worst = fit(rows, times, 3000)
    print(f"cuda: fft, worst {worst:.0%}", file=sys.stderr)
    return dict(zip(places, x)), x[-4:]


def fit_copies(measured, way):
    """Nanoseconds a byte, of pinned and of pageable memory."""
    rates = []
    for pinned in (1, 0):
        here = [m for m in measured if m["pinned"] == pinned]
        x, worst = fit([[m["bytes_" + way]] for m in here], [m[way] * 1e6 for m in here])
        print(f"cuda: copies {way}, {'pinned' if pinned else 'pageable'}, worst {worst:.0%}", file=sys.stderr)
        rates += x
    return rates


def thin(lengths):
    """Lengths that no greater one undercuts."""
    kept = {}
    for length, ns in sorted(lengths.items()):
        cheaper = any(other > length and other * other_ns <= length * ns
                      for other, other_ns in lengths.items())
        if not cheaper:
            kept[length] = ns
    return kept


def fits_tensor_cores(m):
    return m["template"][0] * m["template"][1] <= TENSOR_TAPS


def define_lines(group, names, values):
    prefix = f"TM_CUDA_{group}_" if group else "TM_CUDA_"
    return "".join(f"#define {prefix}{name}_NS {v:.3g}\n" for name, v in zip(names, values))


def replace_block(texts, name, body):
    """Replaces what stands between the lines /* NAME: fitted */ and the next blank line, in
    the header of the device that the name begins with."""
    device = name.split()[0]
    pattern = re.compile(r"(/\* " + re.escape(name) + r": fitted \*/\n).*?\n(?=\n)", re.S)
    if not pattern.search(texts[device]):
        sys.exit(f"{HEADERS[device]} has no block '{name}'")
    texts[device] = pattern.sub(lambda match: match.group(1) + body, texts[device])


def length_lines(lengths):
    items = [f"{{{length}, {ns:.3g}}}," for length, ns in sorted(lengths.items())]
    return "".join("    " + " ".join(items[i:i + 5]) + "\n" for i in range(0, len(items), 5))


def main():
    measured = {}
    for name in sys.argv[1:]:
        for m in json.loads(Path(name).read_text())["results"]:
            if m.get("ms", 1) > 0:
                measured.setdefault(m["kind"], []).append(m)
    texts = {device: header.read_text() for device, header in HEADERS.items()}

    if "cpu-direct" in measured:
        kernels = {}
        for m in measured["cpu-direct"]:
            kernels.setdefault(m["kernels"], []).append(m)
        block = re.search(r"/\* cpu direct: fitted \*/\n(.*?)\n\n", texts["cpu"], re.S).group(1)
        lines = dict(re.findall(r'\{"?(\w[\w.]*)"?, ([^}]*)\},', block))
        for name, values in kernels.items():
            lines["NULL" if name == "c" else name] = ", ".join(f"{v:.3g}" for v in fit_direct(values))
        last = lines.pop("NULL")
        body = "".join(f'    {{"{name}", {values}}},\n' for name, values in lines.items())
        replace_block(texts, "cpu direct", body + f"    {{NULL, {last}}},\n}};\n")
    if "cpu-length" in measured and "cpu-fft" in measured:
        lengths = {m["points"]: m["ns"] for m in measured["cpu-length"]}
        window, factor = fit_cpu_fft(lengths, measured["cpu-fft"])
        kept = thin({length: ns * factor for length, ns in lengths.items()})
        transforms = measured["cpu-length"][0].get("transforms", "fftw")
        replace_block(texts, f"cpu {transforms} lengths", length_lines(kept) + "};\n")
        replace_block(texts, "cpu fft", f"#define TM_CPU_WINDOW_NS {window:.3g}\n")
    if "cuda-direct" in measured:
        tensor = [m for m in measured["cuda-direct"] if fits_tensor_cores(m) and m["ms"] > NEAR_FFT_MS]
        other = [m for m in measured["cuda-direct"] if not fits_tensor_cores(m)]
        row, tap = fit_direct(other)
        replace_block(texts, "cuda direct", f"    .row = {row:.3g}, .tap = {tap:.3g},\n}};\n")
        replace_block(texts, "cuda tensor", define_lines(
            "TENSOR", ["CALL", "WINDOW", "ROW", "STEP", "LONE_STEP"], fit_tensor(tensor)))
    if "cuda-fft" in measured:
        lengths, values = fit_cuda_fft(measured["cuda-fft"])
        replace_block(texts, "cuda lengths", length_lines(lengths) + "};\n")
        replace_block(texts, "cuda fft", define_lines(
            "", ["WINDOW", "WINDOW_ROW", "FFT_CALL", "FFT_SERIAL"], values))
    if "cuda-copy" in measured:
        for way in ("in", "out"):
            replace_block(texts, f"cuda copies {way}", "    0, " + ", ".join(
                f"{v:.3g}" for v in fit_copies(measured["cuda-copy"], way)) + ",\n};\n")
    for device, header in HEADERS.items():
        header.write_text(texts[device])


if __name__ == "__main__":
    main()
