# SPDX-License-Identifier: MIT
# Several matches, their margins, sub-pixel places and regions. The frame is made
# of four copies of one pattern, one of them changed a little.
awk 'BEGIN {
    for (y = 0; y < 24; y++) {
        line = ""
        for (x = 0; x < 40; x++) {
            v = (x * x * 7 + y * y * 3 + x * y) % 50
            for (k = 0; k < 4; k++) {
                u = x - (k % 2 ? 24 : 3); w = y - (k > 1 ? 15 : 2)
                if (u >= 0 && u < 6 && w >= 0 && w < 6)
                    v = 100 + (u * 37 + w * 61 + u * w * 11) % 150 + (k == 3 && u == w ? 9 : 0)
            }
            line = line v " "
        }
        print line
    }
}' >frame.txt

try -n 3 frame.txt 'frame.txt[6x6+3+2]'
try -n 0 --min-score 0.9 frame.txt 'frame.txt[6x6+3+2]'
try -n 0 --min-score 0.999999 --format csv frame.txt 'frame.txt[6x6+3+2]'
try -n 2 --format json --device cpu --algorithm direct -t 'frame.txt[6x6+3+2]' -t 'frame.txt[6x6+24+15]' frame.txt | without_times
try -n 0 --min-score 0.9 --subpixel frame.txt 'frame.txt[6x6+3+2]'
try -n 0 --min-score 0.9 --domain full --verify frame.txt 'frame.txt[6x6+3+2]'
try -n 0 --min-score 2 --metric ccorr -q frame.txt 'frame.txt[30x20+3+2]'
try -n 4 --overlap 1 --metric ccorr frame.txt 'frame.txt[6x6+3+2]'
try -n 4 --overlap 0 --metric ccorr frame.txt 'frame.txt[6x6+3+2]'

echo "# a region: coordinates and scores are the whole frame's"
try -n 0 --min-score 0.9 --roi 20,0,20,24 frame.txt 'frame.txt[6x6+3+2]'
try --roi 3,2,6,6 frame.txt 'frame.txt[6x6+3+2]'
try --min-score 0.9 --roi 4,2,20,12 frame.txt 'frame.txt[6x6+3+2]'

echo "# what is refused"
fail --roi 30,0,11,24 frame.txt 'frame.txt[6x6+3+2]'
fail --roi 3,2,5,6 frame.txt 'frame.txt[6x6+3+2]'
fail --roi 0,0,9,9 'frame.txt[20x20+0+0]' 'frame.txt[6x6+3+2]'
fail --roi 1,2,3 frame.txt 'frame.txt[6x6+3+2]'
fail --roi 1,2,3,0 frame.txt 'frame.txt[6x6+3+2]'
fail -n -1 frame.txt 'frame.txt[6x6+3+2]'
fail -n many frame.txt 'frame.txt[6x6+3+2]'
fail --overlap 1.5 frame.txt 'frame.txt[6x6+3+2]'
