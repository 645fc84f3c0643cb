# SPDX-License-Identifier: MIT
data camera.png chelsea.png
run() { tmatch --format json --device cpu --algorithm direct "$@"; }
run camera.png 'camera.png[64x48+200+100]' | without_times
run --metric ccorr 'chelsea.png[100x90+3+4]' 'camera.png[10x12+0+0]' | without_times
run --min-score 0.99 camera.png 'chelsea.png[64x48+200+100]' | without_times
run -t 'camera.png[20x20+1+2]' -t 'chelsea.png[20x20+1+2]' camera.png chelsea.png | without_times
# The times are numbers; all of them with --time, and nothing on standard error.
run camera.png 'camera.png[20x20+1+2]' | grep -c '"time_ms":{"read":[0-9.]*,"match":[0-9.]*}}$'
run --time camera.png 'camera.png[20x20+1+2]' |
    grep -c '"time_ms":{"read":[0-9.]*,"to_device":[0-9.]*,"kernel":[0-9.]*,"from_device":[0-9.]*,"match":[0-9.]*,"total":[0-9.]*}}$'
