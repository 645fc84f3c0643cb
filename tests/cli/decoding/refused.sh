# SPDX-License-Identifier: MIT
# needs: libseccomp
# where: test -e "$TMATCH_EMULATED_DIR/nvidia/fake-nvjpeg.so"
# Where nvJPEG cannot be had, that is an error by name, and auto goes on without it.
data patch.jpg
fake_nvidia
part='patch.jpg[12x10+40+30]'
cp patch.jpg frame.jpg
printf 'P5 84 84 255 %7056s' '' >mask.pgm
for extra in '--device cpu' '--device auto' --sandbox --color '--depth 16' '--frame-mask mask.pgm' '--angle 0:9:3' \
    '--rows 0:9' --subpixel --verify '--max-memory 1G' '--max-gpu-memory 1G'; do
    # shellcheck disable=SC2086
    tmatch -q --device cuda --decoder nvjpeg $extra frame.jpg "$part" 2>&1 | head -n 1
    # shellcheck disable=SC2086
    tmatch -v --device cuda --decoder auto $extra frame.jpg "$part" 2>&1 >out | grep decoded
    cat out
done
TMATCH_NVJPEG=/nowhere/libnvjpeg.so fail -q --device cuda --decoder nvjpeg frame.jpg "$part"
TMATCH_NVJPEG=/nowhere/libnvjpeg.so tmatch -v --device cuda --decoder auto frame.jpg "$part" 2>&1 | grep decoded
TMATCH_NVJPEG=$(realpath /proc/self/exe) tmatch --device cuda --decoder nvjpeg frame.jpg "$part" 2>&1 | sed 's/TMATCH_NVJPEG names.*/.../'
TMATCH_NVJPEG="$TMATCH_EMULATED_DIR/nvidia/fake-cuda.so" fail -q --device cuda --decoder nvjpeg frame.jpg "$part"
FAKE_NVJPEG=nothing fail -q --device cuda --decoder nvjpeg frame.jpg "$part"
TMATCH_EMULATED_DEVICES=0 fail -q --device cuda --decoder nvjpeg frame.jpg "$part"
FAKE_HANGS=1 fail -q --device cuda --device-timeout 0.5 --decoder nvjpeg frame.jpg "$part"
fail --decoder nvjpg frame.jpg "$part"
# NVDEC, too.
for extra in '--device cpu' --sandbox '--max-gpu-memory 1G'; do
    # shellcheck disable=SC2086
    fail --device cuda --decoder nvdec $extra frame.jpg "$part"
done
