# SPDX-License-Identifier: MIT
data astronaut.png rocket.jpg
try - 'astronaut.png[20x20+100+200]' <astronaut.png
cat astronaut.png | try 'astronaut.png[300x300+100+100]' - 2>&1
cat astronaut.png | try -t '-[20x20+100+200]' astronaut.png
# A crop of it is no option, with or without "--".
cat rocket.jpg | try '-[200x200+100+100]' 'rocket.jpg[20x20+222+111]'
cat rocket.jpg | try -- rocket.jpg '-[20x20+222+111]'
# The colours come from the same bytes.
cat astronaut.png | try -o seen.png - 'astronaut.png[20x20+100+200]'
ls
fail - - <astronaut.png
fail -t - '-[4x4+0+0]' <astronaut.png
fail - 'astronaut.png[20x20+100+200]' </dev/null
fail - 'astronaut.png[20x20+100+200]' <&-
fail -v[4x4+0+0] a b
fail '-[' a b
fail '-['
