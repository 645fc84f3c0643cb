# SPDX-License-Identifier: MIT
# What EXIF says is not stored upright is made upright, and so is all that is said and written
# of it.
data rocket.jpg

# turned ORIENTATION JPEG: the same file with an APP1 marker, in it a TIFF header and one
# directory entry.
turned() {
    head -c 2 "$2"
    printf '\377\341\0\042Exif\0\0MM\0*\0\0\0\010\0\001\001\022\0\003\0\0\0\001\0'
    # shellcheck disable=SC2059
    printf "\\0$(printf %02o "$1")\\0\\0\\0\\0\\0\\0"
    tail -c +3 "$2"
}
for o in 1 2 3 4 5 6 7 8; do
    turned $o rocket.jpg >o$o.jpg
done

# Frame and template are turned alike; sizes and positions are those of the upright picture.
for o in 1 2 3 4 5 6 7 8; do
    tmatch --format json o$o.jpg "o$o.jpg[60x40+300+350]" | without_times | cut -d, -f2-11
done
# Stored as o6.jpg is, the part that was at 300+350 lies elsewhere.
tmatch --ignore-orientation o6.jpg rocket.jpg
fail o6.jpg rocket.jpg

# What is written is upright, and says nothing of an orientation.
part='o6.jpg[60x50+300+350]'
tmatch -q -o out.png --crops crops --report r.html --heatmap h.png o6.jpg "$part"
ls crops
tmatch -v --device cpu out.png crops/o6.jpg.300+350.png 2>&1 | sed -n '1,2p'
grep -c 'image/jpeg' r.html
tmatch -v --device cpu o6.jpg "$part" 2>&1 | sed -n '1,2p'
tmatch -v --device cpu --ignore-orientation o6.jpg "$part" 2>&1 | sed -n '1,2p'

# Regions and masks are of the upright picture too.
tmatch --roi 290,340,100,120 o6.jpg "$part"
fail --roi 400,340,100,80 o6.jpg "$part"
for size in '427 640' '640 427'; do
    # shellcheck disable=SC2086
    bitmap $size >mask.pbm
    try --frame-mask mask.pbm o6.jpg "$part" 2>&1
done

# By rows nothing can be turned.
fail --max-memory 200K o6.jpg "$part"
tmatch --max-memory 200K --ignore-orientation o6.jpg 'rocket.jpg[60x40+300+350]'
# There is room to be matched in, but not to be turned in too: 273,280 pixels, and room is
# five eighths.
fail --max-memory 800K o6.jpg "$part"
tmatch --max-memory 900K o6.jpg "$part"

# Another orientation, other results.
for option in --quiet --quiet --ignore-orientation --ignore-orientation; do
    tmatch --resume log $option o6.jpg 'rocket.jpg[60x40+300+350]' >/dev/null 2>&1
    wc -l <log
done
