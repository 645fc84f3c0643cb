# SPDX-License-Identifier: MIT
# Dies by the signal and leaves no file. timeout resets nothing, so the signals
# are made deadly first: a test may be run in the background.
data camera.png
for signal in TERM INT HUP; do
    env --default-signal=$signal timeout --preserve-status -k 30 -s $signal 0.3 \
        tmatch --verify -o seen.png --map map.npy camera.png 'camera.png[250x250+100+100]'
    echo "$signal: status $?"
done
find . -type f

# In the middle of writing: the target is whole or not there.
{
    printf 'P5\n3000 3000\n255\n'
    head -c 9000000 /dev/urandom
} >large.pgm
printf '0 1\n1 0\n' >small.txt
for delay in 0.02 0.05 0.08 0.11 0.14 0.17 0.2 0.25 0.3; do
    env --default-signal=TERM timeout --preserve-status -s TERM $delay \
        tmatch --domain same --map map.npy large.pgm small.txt >/dev/null
    [ ! -e map.npy ] || [ "$(wc -c <map.npy)" -eq 36000128 ] || echo "half a file after $delay s"
    rm -f map.npy
done
