# SPDX-License-Identifier: MIT
# No file is looked at.
fail
fail a
fail a b c
fail -t a
fail --frobnicate a b
fail -x a b
fail --time -vx a b
fail --verb a b
fail --t a b
fail --template
fail -o
fail --verify=yes a b
fail --domain circular a b
fail --metric LCC a b
fail --format xml a b
fail --algorithm fast a b
fail --device gpu a b
fail --device cuda: a b
fail --device cuda:one a b
fail --device cuda:-1 a b
fail --device cuda:99999999999 a b
fail --device cuda:0, a b
fail --device cuda:0000000000000001 a b
fail --device cuda:0,64 a b
fail --roi 99999999999999999999,0,1,1 a b
fail --roi +1,0,1,1 a b
fail --roi 1,0,1 a b
touch ./-dash.png
fail -dash.png b
fail --device cpu -t b -dish.png
fail --threads -1 a b
fail --threads many a b
fail --threads 4097 a b
fail --threads '' a b
fail --cpu-features sse9 a b
fail --max-pixels 0 a b
fail --max-pixels 1e6 a b
fail --min-score high a b
fail --min-score nan a b
fail --min-score 1.5 a b
fail --min-score '' a b
fail --shard 0/8 a b
fail --shard 9/8 a b
fail --shard 3 a b
fail --shard -1/8 a b
fail --shard 1/8x a b
fail --shard 1/9999999999 a b
fail --shard '' a b
fail --shard 1/8 --watch . -t a
fail --shard 1/8 --verify a b
fail --merge
fail --merge -t a log
fail --merge --shard 1/8 log
fail -o seen.gif a b
fail -o seen a b
fail -o '' a b
fail --map map.png a b
fail --map .npy a b
fail --dump-template dump.npy a b
fail -o seen.png -t a b c
fail --map map.npy -t a -t b c
fail --dump-template dump.txt -t a -t b c
fail --algorithm reference --device cuda a b
fail --algorithm cufft --device cpu a b
fail --search certified --algorithm fft a b
fail --search quick a b
# The two lists that tests/cli/run replaces: the help's metrics, and all instruction sets there are for any processor.
metrics=$(tmatch --help | sed -n -e 's/|/, /g' -e 's/^ *--metric \(.*\), /\1 or /p')
tmatch --metric - a b 2>&1 | grep -q -F "'-' is not any of $metrics" || echo "not all metrics: $metrics"
for metric in lcc ccorr ccorr_normed ccoeff sqdiff sqdiff_normed; do
    echo "$metrics" | grep -q -w "$metric" || echo "no $metric"
done
for set in sse4.1 avx2 avx512bw avx512vnni avxvnni amx dotprod; do
    tmatch --cpu-features - a b 2>&1 | grep -q ", $set[,.]" || echo "no $set"
done
# Standard output takes results, not files.
fail -o - camera.png camera.png
fail --map - camera.png camera.png
fail --calibrate camera.png
fail --list-devices camera.png
