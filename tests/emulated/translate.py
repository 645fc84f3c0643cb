#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes C++ for cuda_runtime.h of the plugin's sources:

    translate.py SOURCE_FOLDER OUT_FOLDER DEPFILE STAMP NAME...

A NAME is cuda-run.cpp for cuda/run.cu. Launches become calls, dynamic shared memory
a pointer, and the functions that are inline PTX get bodies in C++."""
import pathlib
import re
import sys

PTX = {
    "int64_t tm_mul_signed(": "return (int64_t)a * b;",
    "void tm_barrier_init(": "em_barrier_init(barrier, arrivals);",
    "void tm_barrier_arrive(": "em_barrier_arrive(barrier);",
    "void tm_barrier_wait(": "em_barrier_wait(barrier, phase);",
    "unsigned tm_load4(": "return em_at<unsigned>(address);",
    "uint2 tm_load8(unsigned": "return em_at<uint2>(address);",
    "uint4 tm_load16(": "return em_at<uint4>(address);",
    "void tm_store8(": "em_at<uint2>(address) = v;",
    "void tm_store16(": "em_at<uint4>(address) = v;",
    "void tm_copy16(": "em_copy(dst, src, 16);",
    "void tm_bound_copy16(": "em_copy(dst, src, 16);",
    "void tm_ring_copy(": "em_copy(dst, src, 8), em_copy(dst + 8, src + 8, 8);",
    "void tm_copy_wait(": "em_copy_group(); em_copy_wait(0);",
    "void tm_bound_end_copies(": "em_copy_group();",
    "void tm_bound_wait_for_copies(": "em_copy_wait(LAST);",
    "unsigned tm_bound_load_again(": "return em_at<unsigned>(address);",
    "void tm_wgmma_clear(": "memset(d, 0, sizeof d);",
    "void tm_wgmma_add_signed(": "em_wgmma_add_signed(d, a, b);",
    "void tm_wgmma_publish(": "",
    "void tm_bound_store(": "em_at<uint16_t>(address) = (uint16_t)v;",
    "float tm_bound_root(": "return sqrtf(v) * (em_thread % 2 ? 1 + 0x1p-23f : 1 - 0x1p-23f);",
    "int tm_bound_add(": """
    for (int i = 0; i < 4; i++)
        sum += (int)(bytes >> 8 * i & 255) * (int8_t)(factors >> 8 * i);
    return sum;""",
    "void tm_wgmma_begin(": "",
    "void tm_wgmma_end(": "",
    "void tm_wgmma_wait(": "",
    "void tm_wgmma_signed(": "em_wgmma_signed(d, a, b, more, B_APART, A_APART);",
    "float tm_tensor_root(": "return sqrtf(p);",
    "float tm_tensor_reciprocal(": "return 1 / d;",
    "int64_t tm_mad_wide(": "return (int64_t)a * b + c;",
    "int64_t tm_mul_wide(": "return (int64_t)((uint64_t)a * b);",
    "void tm_cells_mma(": "em_mma_m16n8k16(d, a, b0, b1);",
    "void tm_bytes_mma(": "em_mma_m16n8k32(d, a0, a1, a2, a3, b.x, b.y);",
    "unsigned tm_cells_half(": "return em_half(v);",
    "float tm_cells_quotient(": "return a / b;",
    "unsigned tm_progress_now(": "return *progress;",
    "void tm_progress_wait(": "em_count_is(*progress, count);",
    "double2 tm_progress_load(": "return *point;",
    "void tm_progress_release(": "*progress += count;",
    "unsigned tm_cells_byte(": "return (unsigned)ceilf(fminf(q2 + 0.5f, 255.0f));",
    "unsigned tm_small_byte(": "return (unsigned)fmin(ceil((double)square * factor), 255);",
    "void tm_add_lane_before(uint32_t &sum, int offset)": """
    const uint32_t before = __shfl_up_sync(~0u, sum, offset);
    if ((em_thread & 31) >= offset)
        sum += before;""",
}


def closing(text, at):
    """The place of the bracket that closes the one at a place."""
    pairs = {"(": ")", "{": "}"}
    depth = 0
    for i in range(at, len(text)):
        depth += (text[i] == text[at]) - (text[i] == pairs[text[at]])
        if depth == 0:
            return i
    sys.exit("a bracket is not closed")


def translate(text):
    for signature, body in PTX.items():
        start = text.find(signature)
        if start >= 0:
            brace = text.index("{", start)
            text = text[: brace + 1] + body + text[closing(text, brace) :]
    text = re.sub(r"extern __shared__ (?:__align__\(\d+\) )?(\w+) (\w+)\[\];",
                  r"\1 *const \2 = (\1 *)em_shared;", text)
    while "<<<" in text:
        # kernel<TEMPLATE><<<CONFIGURATION>>>(ARGUMENTS)
        kernel = re.search(r"[\w:.]+(?:<(?:[^<>;]|<[^<>;]*>)*>)?\s*$", text[: text.index("<<<")])
        configuration = text[text.index("<<<") + 3 : text.index(">>>")]
        arguments = text.index(">>>") + 3
        end = closing(text, arguments)
        text = (text[: kernel.start()] + f"em_call({configuration}, {kernel.group().strip()}, "
                + text[arguments + 1 : end] + text[end:])
    return text


source, out = map(pathlib.Path, sys.argv[1:3])
depfile, stamp, *names = sys.argv[3:]
headers = sorted(path for path in source.rglob("*.cuh") if "cuda" in path.parts)
inputs = {path: path.relative_to(source) for path in headers}
for name in names:
    inputs[(source / name.replace("-", "/")).with_suffix(".cu")] = name
for path, name in inputs.items():
    (out / name).parent.mkdir(parents=True, exist_ok=True)
    (out / name).write_text(translate(path.read_text()))
(out / stamp).write_text("")
pathlib.Path(depfile).write_text(f"{stamp}: {' '.join(map(str, inputs))}\n")
