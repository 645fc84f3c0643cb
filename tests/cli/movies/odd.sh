# SPDX-License-Identifier: MIT
# needs: libavformat
# runs: ffmpeg
# Movies that are turned, torn, without pictures, larger than allowed; and where none is taken.
data coffee.png
ffmpeg() {
    command ffmpeg -v error -nostdin -bitexact "$@"
}
ffmpeg -i coffee.png -vf crop=48:40:200:100 logo.png
ffmpeg -f lavfi -i testsrc2=s=320x180:r=25:d=4 -loop 1 -i logo.png -filter_complex \
    "[0][1]overlay=x='40+2*n':y=60:shortest=1" -c:v mpeg4 -q:v 2 -g 25 clip.mp4
places() {
    tmatch -q --min-score 0.9 "$@" logo.png | sed 's/ score=[0-9.]*//'
}
places --to 0.1 clip.mp4
# As phones write them: stored lying, to be shown standing.
turn() { # by the matrix in the track's header
    python3 - <<PYTHON
data = open("lying.mp4", "rb").read()
at = data.index(b"tkhd") + 44
turned = [0, -1 << 16, 0, 1 << 16, 0, 0, 0, 0, 1 << 30]
matrix = b"".join(number.to_bytes(4, "big", signed=True) for number in turned)
open("turned.mp4", "wb").write(data[:at] + matrix + data[at + 36:])
PYTHON
}
ffmpeg -i clip.mp4 -vf transpose=clock -c:v mpeg4 -q:v 2 lying.mp4
turn
places --to 0.1 turned.mp4
places --ignore-orientation --to 0.1 turned.mp4 | cut -c 1-24
tmatch -v --to 0.04 turned.mp4 logo.png 2>&1 >lines | grep -o 'movie, .*'
# The size changes.
ffmpeg -i clip.mp4 -t 1 -c:v mpeg2video -q:v 2 -f mpeg2video a
ffmpeg -i clip.mp4 -t 1 -vf crop=200:120:30:40 -c:v mpeg2video -q:v 2 -f mpeg2video b
cat a b >both
tmatch -q --format json --min-score 0.9 both logo.png | sed 's/.*"frame_size":\([^]]*.\).*/\1/' | uniq -c
# Sound, with and without a cover.
ffmpeg -f lavfi -i sine=d=1 -c:a aac sound.m4a
ffmpeg -f lavfi -i sine=d=1 -i logo.png -map 0 -map 1 -c:a aac -c:v mjpeg -disposition:v attached_pic cover.m4a
fail sound.m4a logo.png
fail cover.m4a logo.png
# Torn: what could be decoded is matched, the rest is one error.
ffmpeg -i clip.mp4 -c copy -movflags +faststart fast.mp4
ffmpeg -i clip.mp4 -c copy clip.mkv
torn() { # FILE
    size=$(stat -c %s $1)
    head -c $((size / 2)) $1 >torn
    tmatch -q --min-score 0.9 torn logo.png >lines 2>err
    echo "status $?, $(wc -l <err) error: $(sed 's/damaged: .*/damaged: .../' err)"
    count=$(wc -l <lines)
    [ $count -gt 30 ] && [ $count -lt 70 ] || echo "$count frames"
}
torn fast.mp4
torn clip.mkv
torn clip.mp4
cat torn | fail - logo.png
cat clip.mp4 | fail - logo.png
fail --format json torn logo.png
# One torn movie among others.
try -q --to 0.04 -t logo.png torn clip.mp4 2>&1 | sed 's/ score.*//'
# Limits, and what takes no movie.
fail --max-pixels 50000 clip.mp4 logo.png
fail --max-memory 1M clip.mp4 logo.png
places --max-memory 64M --to 0.1 clip.mp4
fail --max-time-per-frame 0.000001 clip.mp4 logo.png
cat fast.mp4 | fail --max-time-per-frame 0.000001 - logo.png
# A pipe's writer may take its time.
{ head -c 30000 fast.mp4; sleep 2.2; tail -c +30001 fast.mp4; } | tmatch -q --max-time-per-frame 2 - logo.png | wc -l
fail --sandbox clip.mp4 logo.png
fail --shard 1/2 clip.mp4 logo.png
mkdir watched
fail --watch watched clip.mp4 -t logo.png
fail -o seen.png clip.mp4 logo.png
fail -o seen.avi clip.mp4 logo.png
fail --map map.npy clip.mp4 logo.png
# What is no movie is not taken for one: a list of others, and subtitles.
printf '#EXTM3U\n#EXT-X-TARGETDURATION:9\n#EXTINF:9,\nclip.mp4\n#EXT-X-ENDLIST\n' >list.m3u8
printf "ffconcat version 1.0\nfile clip.mp4\n" >list.ffconcat
printf '1\n00:00:00,000 --> 00:00:01,000\nHello\n' >text.srt
# Nor is what is hidden by bytes that texts do not have, in a file that begins as a movie, too: nothing is
# opened that it names, and no library writes what it holds to the terminal.
printf '#EXTM3U\n#\001\n#EXT-X-TARGETDURATION:9\n#EXTINF:9,\nclip.mp4\n#EXT-X-ENDLIST\n' >hidden.mp4
printf 'ffconcat version 1.0\n#\001\nfile clip.mp4\n' >joined.mp4
printf '\032\105\337\243\237<MPD xmlns="urn:mpeg:dash:profile:isoff-live:2011">\033]0;title\a</MPD>' >begun.mkv
printf '\032\105\337\243\237\nv=0\r\nc=IN IP4 127.0.0.1\r\nm=video 5004 RTP/AVP 96\r\n' >session.mkv
for file in list.m3u8 list.ffconcat text.srt hidden.mp4 joined.mp4 begun.mkv session.mkv; do
    fail $file logo.png
    fail - logo.png <$file
done
