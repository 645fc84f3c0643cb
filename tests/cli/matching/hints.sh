# SPDX-License-Identifier: MIT
# One line about what may have been meant.
data camera.png coffee.png patch.jpg
echo "# frame and template exchanged"
fail patch.jpg camera.png
try -q -t camera.png patch.jpg 'patch.jpg[80x80+0+0]' 2>&1
fail 'camera.png[100x30+0+0]' patch.jpg
echo "# the region is too small, not the frame"
fail --roi 10,10,50,50 camera.png patch.jpg
fail 'camera.png[50x500+10+10]' patch.jpg
fail --max-memory 100K 'camera.png[50x500+10+10]' patch.jpg
echo "# a frame without anything in it"
(echo P2 30 20 255; yes 77 | head -n 600) >flat.pgm
try flat.pgm patch.jpg'[20x10+30+30]'
try -q flat.pgm patch.jpg'[20x10+30+30]'
try --format json flat.pgm patch.jpg'[20x10+30+30]' | without_times
echo "# places that differ in their colours only"
awk 'BEGIN { print "P3 40 30 255"
    for (y = 0; y < 30; y++) for (x = 0; x < 40; x++) {
        u = x % 20 - 5; v = y % 15 - 4
        if (u >= 0 && u < 8 && v >= 0 && v < 6 && (u * u * 3 + v * 5 + u * v) % 7 < 3)
            print 100, 100, x < 20 && y < 15 ? 5 : 9
        else if (u >= 0 && u < 8 && v >= 0 && v < 6) print 200, 180, 160
        else print (x * 7 + y * 13) % 40, 20, 30 } }' >buttons.ppm
try buttons.ppm 'buttons.ppm[8x6+25+4]'
try --color buttons.ppm 'buttons.ppm[8x6+5+4]'
try -q buttons.ppm 'buttons.ppm[8x6+25+4]'
try --format json buttons.ppm 'buttons.ppm[8x6+25+4]' | without_times
try coffee.png 'coffee.png[20x20+300+200]'
echo "# a template of one luma"
echo P3 2 1 255 100 100 5 100 100 9 >luma.ppm
fail buttons.ppm luma.ppm
fail --color camera.png luma.ppm
