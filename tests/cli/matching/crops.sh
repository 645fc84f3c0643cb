# SPDX-License-Identifier: MIT
# Positions are the whole frame's, whatever part of it is searched.
data camera.png
tmatch 'camera.png[300x300+100+50]' 'camera.png[64x48+200+100]'
tmatch --domain full 'camera.png[64x48+200+100]' 'camera.png[64x48+200+100]'
# A file whose name looks like a crop is a file.
cp camera.png 'name[4x4+1+2]'
tmatch 'name[4x4+1+2]' 'name[4x4+1+2][64x48+200+100]'
