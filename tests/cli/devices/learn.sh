# SPDX-License-Identifier: MIT
# where: ! grep -q __asan_init "$TMATCH" # long under sanitizers, which see the same code in other tests
# What a CUDA device takes is measured at the end of the first run on it that takes a second or more, once.
data camera.png
crop='camera.png[20x20+101+202]'
export XDG_CACHE_HOME="$PWD/cache" TMATCH_PLUGIN_DIR="$TMATCH_FAKE_PLUGIN_DIR" TMATCH_FAKE_TIMES=2.5
costs="$XDG_CACHE_HOME/tmatch/costs"
# The frame comes late.
slow() { (sleep 1.1 && cat camera.png) | tmatch -v "$@" - "$crop" 2>&1 | sed -n 's/.*\(measured once .*,\) in .*, \(for .*kept in\).*/\1 \2/p'; }
measured() { tmatch --list-devices -v | grep -c 'its costs were measured'; }
kept() { [ ! -e "$costs" ] || cut -f 1,3 "$costs"; }

tmatch --device cuda:1 camera.png "$crop"
kept
slow --device cuda:1 --device-timeout 30
slow --device cuda:1
kept
measured # all four are of one name
# Known from --calibrate.
rm "$costs"
tmatch --calibrate --device cuda:0 >/dev/null
slow --device cuda
kept
# Without -v nothing is said, and where nothing can be kept nothing is measured.
rm "$costs"
(sleep 1.1 && cat camera.png) | tmatch --device cuda:1 - "$crop"
kept
rm -r "$XDG_CACHE_HOME" && : >"$XDG_CACHE_HOME"
slow --device cuda:1
# A device that fails while it is measured: the results stand, and nothing is kept.
rm "$XDG_CACHE_HOME"
(sleep 1.1 && cat camera.png) | TMATCH_FAULT=1:12:214 tmatch --device cuda:1 - "$crop"
kept
# So it is where others keep it busy meanwhile.
(sleep 1.1 && cat camera.png) | TMATCH_FAKE_TIMES=80 tmatch --device cuda:1 - "$crop"
kept
