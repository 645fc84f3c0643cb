# SPDX-License-Identifier: MIT
tmatch --help | head -n 3
tmatch --help | awk 'length > 80'
tmatch -h nonsense --after | head -n 1
# Every long option stands in the help.
for option in template output map domain metric device threads cpu-features algorithm min-score format \
    list-devices verify time dump-template max-pixels verbose quiet help version; do
    tmatch --help | grep -q -e "--$option" || echo "no --$option"
done
tmatch --version | sed -e 's/[0-9][0-9.]*/N/g' -e 's/^backends: cpu.*/backends: cpu/'
tmatch --list-devices | sed -n '1s/^cpu: .*thread.*/cpu/p'
tmatch --list-devices | sed -n '2s/^cuda:.*/cuda/p'
