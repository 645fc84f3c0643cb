# SPDX-License-Identifier: MIT
# runs: python3
# where: test "$(ulimit -H -n)" = unlimited || test "$(ulimit -H -n)" -gt 4000
# --merge of more logs than a process may open without asking.
cat >make.py <<'PROGRAM'
def mix(number, data):
    word = 2**64 - 1
    number ^= 0xCBF29CE484222325 + len(data) & word
    for byte in data:
        number = (number ^ byte) * 0x100000001B3 & word
    number = (number ^ number >> 33) * 0xFF51AFD7ED558CCD & word
    number = (number ^ number >> 33) * 0xC4CEB9FE1A85EC53 & word
    return number ^ number >> 33

def line(text, id=""):
    return '%s%s,"sum":"%016x"}\n' % (text, id, mix(mix(0, text.encode()), id.encode()))

for i in range(1, 3001):
    with open("log.%d" % i, "w") as log:
        log.write(line('{"begun":"%d/3000","run":"%016x","frames":3000,"own":1,"list":"0000000000000005",'
                       '"settings":"0000000000000007","templates":["t"],"folder":"/","command":["d","t"]' % (i, i)))
        log.write(line('{"frame":"%d","template":"t","matches":[{"x":%d,"y":2,"w":3,"h":4,"score":1}],'
                       '"shard":{"run":"%016x","order":[%d,1]}' % (i, i % 7, i, i), ',"id":"%016x"' % i))
        log.write(line('{"finished":"%d/3000","run":"%016x","status":0' % (i, i)))
PROGRAM
python3 make.py
(
    ulimit -S -n 256
    tmatch --merge log.* 2>&1 >merged
    echo "status $?"
)
wc -l <merged
sed -n '1p; 1500p; $p' merged
(
    ulimit -n 256
    tmatch --merge log.* 2>&1
    echo "status $?"
)
rm log.1234
try --merge log.* 2>&1
