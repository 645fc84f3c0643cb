#!/bin/sh
# SPDX-License-Identifier: MIT
# Each command of the bench runs, checks, and writes JSON that the other scripts read. CPU only,
# tiny sizes: nothing here measures anything.
set -eu
bench=$1
source=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$bench" match --devices cpu:1,cpu --threads 2 --samples 3 --budget 0.05 --json "$work/a.json" \
    64,5 --domain full 61x47,5x4 --metric ccorr 60,4 --domain valid --best 300,21 \
    --metric lcc --templates 3 90x80,7
"$bench" --help >/dev/null
for command in match plan formats floats peaks devices costs start; do
    "$bench" "$command" --help >/dev/null
done
"$bench" plan --devices cpu --samples 3 --json "$work/plan.json" 64,5 >/dev/null
"$bench" start nothing
"$bench" formats --devices cpu --samples 3 --json "$work/formats.json" 64,5 >/dev/null
"$bench" floats --samples 3 --json "$work/floats.json" 64,5 >/dev/null
"$bench" peaks --devices cpu:1 --samples 3 --json "$work/peaks.json" 200x100,20 >/dev/null
if "$bench" --help | grep -q '^  frame '; then
    "$bench" frame 31x17 "$work/frame.png"
    "$bench" frame 40 "$work/frame.pgm"
    "$bench" certified --help >/dev/null
    "$bench" batch frames "$work" 2 "$work/frame.png"
    "$bench" batch decode --threads 2 "$work/000000.png" "$work/000001.jpg" >/dev/null
    "$bench" batch match --threads 2 "$work/000000.png" "$work/000001.jpg" >/dev/null
fi
for wrong in "" "none" "match --devices cpu 8,9" "match --devices nowhere 64,5" "match --suite none" \
    "match --samples 0" "match 64" "floats --map 64,5" "costs 64,5" "frame 0 x.pgm" "certified --devices cpu x.pgm y.pgm"; do
    # shellcheck disable=SC2086 # the words are arguments
    if "$bench" $wrong >/dev/null 2>&1; then
        echo "accepted: $wrong" >&2
        exit 1
    fi
done

command -v python3 >/dev/null || exit 0
python3 - "$work/a.json" <<'END'
import json, sys
data = json.load(open(sys.argv[1]))
rows = data["results"]
ours = [r for r in rows if r["algorithm"] in ("direct", "direct-many", "reference")]
assert data["machine"]["commit"] and data["machine"]["cpu"] and data["machine"]["command"]
assert len(ours) == 17 and all(r["status"] == "ok" and r["max_abs_error"] == 0 for r in ours), ours
assert all(r["kernel_ms"]["min"] <= r["kernel_ms"]["median"] <= r["kernel_ms"]["max"] for r in ours)
thesis = [r for r in rows if r["algorithm"] == "thesis-cpu" and r["output"] == "map"]
for name in ("plan", "formats", "floats", "peaks"):
    document = json.load(open(sys.argv[1].replace("a.json", name + ".json")))
    assert document["schema"] == 1 and document["machine"]["commit"] and document["results"], name
assert len(thesis) == 3 and all(r["status"] == "ok" and r["relative_error"] < 1e-5 for r in thesis), thesis
END
python3 "$source/tables.py" --check
python3 "$source/tables.py" --print >/dev/null # what bench/results has can be read
python3 "$source/plot.py" --check
if python3 -c 'import numpy' 2>/dev/null; then
    python3 "$source/peers.py" --check --lib "$(dirname "$bench")/../libtmatch.so"
else
    echo "peers.py is not checked: no numpy"
fi
