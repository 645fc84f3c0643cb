# SPDX-License-Identifier: MIT
# 12 bits in 16 can be seen in what is drawn; what is cut out stays as it is.
make() { # MAXVAL FACTOR
    echo "P2 160 40 $1"
    for y in $(seq 0 39); do
        for x in $(seq 0 159); do
            echo $(((x * x * 77 + y * y * 131 + x * y * 293) % 256 * $2))
        done
    done
}
make 65535 16 >deep.pgm
make 255 1 >shown.pgm
try -o drawn.png --crops crops deep.pgm 'deep.pgm[12x9+30+20]'
try deep.pgm crops/deep.pgm.30+20.png
# far from what is drawn, the picture is the stretched one
try drawn.png 'shown.pgm[50x40+110+0]'
