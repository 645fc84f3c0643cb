# SPDX-License-Identifier: MIT
tmatch --help | head -n 3
tmatch --help | awk 'length > 80'
tmatch -h nonsense --after | head -n 1
# The parser knows what the help lists.
options=$(tmatch --help | sed -n 's/^  \(-., \|    \)\(--[a-z-]*\).*/\2/p')
[ "$(echo "$options" | wc -l)" -ge 40 ] || echo "few options in the help"
for option in $options; do
    tmatch "$option" --help 2>&1 | grep "unknown option"
done
tmatch --version | sed -e 's/[0-9][0-9.]*/N/g' -e 's/, lib\(tiff\|webp\|deflate\|avformat\|seccomp\) N//g' -e 's/, FFTW N$//' -e '/^licence:/d' \
    -e 's/^backends: cpu.*/backends: cpu/' -e '/^cuda backend: .*libtmatch-cuda.so$/d'
TMATCH_PLUGIN_DIR=$TMATCH_FAKE_PLUGIN_DIR tmatch --version | sed -n 's,^cuda backend: /.*/fake/,,p'
# The licence is that of the binary.
case $(tmatch --version | tr '\n' ' ') in
*"FFTW 3"*"licence: GPL-2.0-or-later, because"*) echo licence ;;
*FFTW* | *GPL*) tmatch --version ;;
*"licence: MIT"*) echo licence ;;
esac
tmatch --list-devices | sed -n '1s/^cpu: .*thread.*/cpu/p'
tmatch --list-devices | sed -n '2s/^cuda:.*/cuda/p'
