# SPDX-License-Identifier: MIT
# The same result with any number of threads, any instruction set and either
# algorithm.
data hubble_deep_field.jpg
for threads in 1 2 3 7 16 0; do
    tmatch --threads $threads --device cpu hubble_deep_field.jpg 'hubble_deep_field.jpg[31x19+700+600]'
    tmatch --threads $threads --device cpu --domain full --map map-$threads.npy \
        'hubble_deep_field.jpg[200x300+500+500]' 'hubble_deep_field.jpg[31x19+100+100]'
done | sort | uniq -c
for features in none sse4.1 avx2 avx512bw,sse4.1 all; do
    tmatch --cpu-features $features --device cpu --domain full --map map-$features.npy \
        'hubble_deep_field.jpg[200x300+500+500]' 'hubble_deep_field.jpg[31x19+100+100]'
done | uniq -c
tmatch --algorithm reference --domain full --map map-reference.npy \
    'hubble_deep_field.jpg[200x300+500+500]' 'hubble_deep_field.jpg[31x19+100+100]'
for map in map-*.npy; do
    cmp "$map" map-1.npy
done
