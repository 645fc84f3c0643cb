# SPDX-License-Identifier: MIT
# where: ! grep -q __asan_init "$TMATCH" # long under sanitizers, which see the same code in other tests
# The thesis's two applications in form: 253x358 and 400x610 frames (rows x
# columns), a 21x21 template, every overlap scored.
data camera.png rocket.jpg
tmatch --verify --domain full 'camera.png[358x253+60+200]' 'camera.png[21x21+220+290]'
tmatch --verify --domain full 'rocket.jpg[610x400+20+10]' 'rocket.jpg[21x21+333+222]'
