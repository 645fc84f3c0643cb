# SPDX-License-Identifier: MIT
# Files of other kinds are refused by name, with a command that converts them; those of a
# folder are counted. Lists as Windows writes them.
data camera.png
# Movies are among them where libavformat is missing, as it is for this test.
mkdir no-libav
for version in 58 59 60 61 62 63 64 65; do
    : >no-libav/libavformat.so.$version
done
export LD_LIBRARY_PATH="$PWD/no-libav${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
crop='camera.png[20x20+1+2]'
box() { # NAME BRAND
    printf '\0\0\0\030ftyp%s\0\0\0\0isomiso2' "$2" >"$1"
}
box a.mp4 isom
box "it's a movie.mov" 'qt  '
box -dash.m4v 'M4V '
box a.heic heic
box a.avif avif
printf 'GIF89a' >a.gif
printf '\032\105\337\243\237' >a.mkv
printf 'RIFF\0\0\0\0AVI LIST' >a.avi
printf '\377\012abc' >a.jxl
printf '\0\0\0\014jP  \r\n\207\n' >a.jp2
printf '%%PDF-1.4\n' >a.pdf
printf '<?xml version="1.0"?>\n<svg xmlns="">' >a.svg
printf '\n<!DOCTYPE html><html>' >a.html
printf '8BPS\0\001' >a.psd
printf '\166\057\061\001' >a.exr
printf 'SIMPLE  =   T' >a.fits
head -c 128 /dev/zero >a.dcm
printf DICM >>a.dcm
printf '\037\213\010' >a.png.gz
printf 'PK\003\004' >a.zip
for file in a.* ./-dash.m4v "it's a movie.mov"; do
    fail "$file" "$crop"
done
fail -- -dash.m4v "$crop"
fail "$crop" a.mp4
fail "$crop" a.psd
fail --mask a.psd camera.png "$crop"
fail - "$crop" <a.mp4
cat a.mp4 | fail - "$crop"
long=$(printf 'x%.0s' $(seq 120)).mp4
cp a.mp4 "$long"
fail "$long" "$crop" | sed 's/xxx*/x/'
# What a folder is not read for is counted, but not what no one would take for a picture.
mkdir -p photos/below
for name in a.heic b.HEIC c.mov d.npy notes.txt list.json .hidden.mov below/e.gif; do
    cp a.mp4 photos/$name
done
cp camera.png photos
try -t "$crop" photos 2>&1 | sed 's/;.*//'
try -t "$crop" -r photos 2>&1 | sed 's/;.*//'
try -t "$crop" photos camera.png 2>&1 | sed 's/;.*//'
try -q -t "$crop" photos
rm photos/camera.png
try -t "$crop" photos 2>&1
# Carriage returns and a byte order mark, but not where they are a file's own.
printf '\357\273\277camera.png\r\n\r\ncamera.png[30x30+0+0]\r\ngone.png\r\n' | try -q --files-from - -t "$crop" 2>&1
ln -s camera.png "$(printf 'odd\r')"
printf 'odd\r\n' | try -q --files-from - -t "$crop"
