# SPDX-License-Identifier: MIT
# needs: libavformat
# Movies made to take memory or time, or to hide that a part is broken.
python3 - <<'PYTHON'
import struct, zlib

def box(kind, *parts):
    body = b"".join(parts)
    return struct.pack(">I", len(body) + 8) + kind + body

def full(kind, *parts):
    return box(kind, bytes(4), *parts)

def movie(name, samples, size, data, chunks=1):
    """Frames of PNG, 64 x 64 as the header says, that the index finds in each of the chunks, which are one."""
    kind = box(b"ftyp", b"qt  \0\0\2\0qt  ")
    a_chunk = -(-samples // chunks)
    entry = box(b"png ", bytes(6), struct.pack(">H", 1), bytes(16), struct.pack(">HHIIIH", 64, 64, 72 << 16, 72 << 16, 0, 1),
                bytes(32), struct.pack(">Hh", 24, -1))
    table = box(b"stbl", full(b"stsd", struct.pack(">I", 1), entry), full(b"stts", struct.pack(">III", 1, samples, 1)),
                full(b"stsc", struct.pack(">IIII", 1, 1, a_chunk, 1)), full(b"stsz", struct.pack(">II", size, samples)),
                full(b"stco", struct.pack(">I", chunks), struct.pack(">I", len(kind) + 8) * chunks))
    matrix = struct.pack(">9i", 1 << 16, 0, 0, 0, 1 << 16, 0, 0, 0, 1 << 30)
    track = box(b"trak", full(b"tkhd", struct.pack(">IIIII", 0, 0, 1, 0, 100), bytes(16), matrix, struct.pack(">II", 64 << 16, 64 << 16)),
                box(b"mdia", full(b"mdhd", struct.pack(">IIIII", 0, 0, 25, samples, 0)), full(b"hdlr", b"mhlrvide", bytes(13)),
                    box(b"minf", full(b"vmhd", bytes(8)), table)))
    head = full(b"mvhd", struct.pack(">IIIIIH", 0, 0, 25, 100, 1 << 16, 256), bytes(10), matrix, bytes(28))
    open(name, "wb").write(kind + box(b"mdat", data) + box(b"moov", head, track))

def png(width, height):
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    packer = zlib.compressobj(9)
    rows = b"".join(packer.compress(b"\0" + b"ab" * (width // 2)) for y in range(height)) + packer.flush()
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)) + chunk(b"IDAT", rows) +
            chunk(b"IEND", b""))

small, large = png(64, 64), png(10000, 10000)
open("template.png", "wb").write(png(16, 16))
movie("sound.mov", 5, len(small), small * 5)
movie("last.mov", 5, len(small), small * 4 + bytes(len(small)))
movie("first.mov", 5, len(small), bytes(len(small)) + small * 4)
movie("long.mov", 80_000_000, 1, bytes(100))
movie("again.mov", 4_000_000, 1, bytes(1000), 4000)
movie("large.mov", 1, len(large), large)
movie("grows.mov", 2, len(large), small + bytes(len(large) - len(small)) + large)
PYTHON
# The peak of memory, measured against the least that a movie takes, which differs from build to build; what the
# address sanitizer keeps of freed memory is none of the program's.
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}quarantine_size_mb=16
cat >peak.py <<'PYTHON'
import resource, subprocess, sys
quiet = {"stdout": subprocess.DEVNULL} if sys.argv[1] == "0" else {}
status = subprocess.call(["tmatch", "-q", "--device", "cpu", *sys.argv[2:], "template.png"], **quiet)
most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
print(most if quiet else f"status {status}" + (f" with {most} megabytes" if most > int(sys.argv[1]) else ""))
PYTHON
least=$(python3 peak.py 0 --threads 1 sound.mov)
bounded() { # MEGABYTES OPTION...: of memory beyond the least
    most=$((least + $1))
    shift
    python3 peak.py $most "$@" 2>&1 | sed 's/ score=.*//'
}
# A broken frame is told, however many threads decode: libavcodec forgets some where it is emptied.
for threads in 1 2 3 16; do
    bounded 1000 --threads $threads sound.mov | tail -n 1
    bounded 1000 --threads $threads last.mov | tail -n 2
    bounded 1000 --threads $threads first.mov | tail -n 2
done
# 650 bytes whose index takes 1.9 GB, and one that names the same bytes again and again.
bounded 1000 long.mov
bounded 1000 --max-memory 64M long.mov
bounded 1000 again.mov
bounded 1000 --from 2 again.mov
# Frames that are larger than the header says: 100 MB each, and libav looks at some before it tells of them.
for limit in '--max-memory 64M' '--max-pixels 100000' '--max-pixels 90000000'; do
    bounded 150 $limit large.mov | sed 's/ max pixel count [0-9]*/ max pixel count N/'
    bounded 150 $limit grows.mov | sed 's/ max pixel count [0-9]*/ max pixel count N/'
done
