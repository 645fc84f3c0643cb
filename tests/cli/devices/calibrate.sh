# SPDX-License-Identifier: MIT
# where: ! grep -q __asan_init "$TMATCH" # long under sanitizers, which see the same code in other tests
# Measured costs are kept in the cache, used by later runs, and never in the way.
data camera.png
crop='camera.png[20x20+101+202]'
export XDG_CACHE_HOME="$PWD/cache" TMATCH_PLUGIN_DIR="$TMATCH_FAKE_PLUGIN_DIR" TMATCH_FAKE_TIMES=2.5
measured() { tmatch --list-devices -v | sed -n 's/^\([a-z]*:[0-9]*\).*\(its costs.*\)/\1 \2/p'; }
plans() { tmatch -v "$@" camera.png "$crop" 2>&1 | grep -c 'by what was measured here'; }
costs="$XDG_CACHE_HOME/tmatch/costs"

measured
plans --device cpu
tmatch --calibrate --device cuda:0 | sed 's|kept in .*/cache/|kept in |; s/after .* s$/after some s/'
measured
plans --device cuda:1
plans --device cpu
# The CPU's line comes to the other, and replaces its own the second time.
tmatch --calibrate --device cpu | sed 's/[0-9]*\.[0-9][0-9]/N/g; s/^cpu: .*: window/cpu: window/; s|kept in .*/cache/|kept in |; s/after .* s$/after some s/'
tmatch --calibrate --device cpu >/dev/null
cut -f 1,3 "$costs"
plans --device cpu
TMATCH_FAKE_DEVICES=0 tmatch --calibrate | sed -n 's/^cpu: .*: window.*/only the CPU/p'
ls "$XDG_CACHE_HOME/tmatch"
# Of another version, and of another device.
sed -i 's/^tmatch-costs\t[^\t]*/tmatch-costs\t0.0.1/' "$costs"
plans --device cuda:0
# Damaged, cut short, a folder, none.
for text in 'no costs' '' "$(printf 'tmatch-costs\t0.1.0\tcuda')"; do
    printf '%s' "$text" >"$costs"
    tmatch --device cpu camera.png "$crop" 2>&1 | sed 's|: .*/cache/|: |'
done
echo damaged >"$costs"
tmatch -q --device cpu camera.png "$crop"
tmatch --calibrate --device cuda:0 >/dev/null && cut -f 1,3 "$costs"
rm -r "$XDG_CACHE_HOME" && mkdir -p "$costs"
tmatch --device cpu camera.png "$crop" 2>&1 | sed 's|: .*/cache/|: |'
# Nowhere to write: what was measured is said all the same.
rm -r "$XDG_CACHE_HOME" && : >"$XDG_CACHE_HOME"
tmatch --device cpu camera.png "$crop"
tmatch --calibrate --device cuda:0 2>err | head -n 2
sed 's|: .*/cache/|: |' err
XDG_CACHE_HOME=relative HOME= fail --calibrate --device cuda:0 | tail -n 2
mkdir home
XDG_CACHE_HOME= HOME="$PWD/home" tmatch --calibrate --device cuda:0 >/dev/null && ls home/.cache/tmatch
TMATCH_FAULT=0:9:214 fail --calibrate --device cuda:0
# Kept busy by others.
TMATCH_FAKE_TIMES=80 fail --calibrate --device cuda:0 | sed 's/took [0-9]* /took N /'
