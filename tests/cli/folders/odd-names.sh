# SPDX-License-Identifier: MIT
# Any byte may stand in a name. A line stays a line; CSV keeps the bytes, JSON
# keeps what is Unicode.
newline='new
line.png'
tab=$(printf 'tab\there.png')
latin=$(printf 'caf\351.png')
unicode=$(printf 'caf\303\251 \342\202\254.png')
escape=$(printf 'esc\033[31m.png')
# What a terminal takes for ESC [, as a character and as a byte; and the same byte within
# a letter, which is none.
c1=$(printf 'c1 \302\2332J \2332J \305\233.png')
for name in 'two words.png' "it's \"quoted\".png" 'back\slash.png' '-dash.png' "$newline" "$tab" \
    "$latin" "$unicode" "$escape" "$c1"; do
    cp "$TMATCH_DATA_DIR/camera.png" "./$name"
    tmatch -- "$name" "$name[20x20+7+9]"
    tmatch --format csv -- "$name" "$name[20x20+7+9]"
    tmatch --format json --device cpu --algorithm direct -- "$name" "$name[20x20+7+9]" | without_times
done
# A spreadsheet computes cells that begin so: they get a path that it does not.
for name in "=cmd|' c'!A0.png" '+1+2.png' '@sum.png' '-dash.png' '-5'; do
    cp "$TMATCH_DATA_DIR/camera.png" "./$name"
    tmatch --format csv -t 'two words.png[20x20+7+9]' -- "$name" | tail -n 1
done
tmatch --format csv -- - 'two words.png[20x20+7+9]' <two\ words.png | tail -n 1
tmatch --format csv -- "$tab" '-[20x20+7+9]' <two\ words.png | tail -n 1
# Errors are one line too.
mkdir "a
folder"
fail "a
folder" 'two words.png[20x20+7+9]'
fail "$escape[9" 'two words.png[20x20+7+9]'
fail --format "te
xt" a b
fail --format json "gone
$latin" 'two words.png[20x20+7+9]'
