# SPDX-License-Identifier: MIT
# where: ! grep -q __asan_init "$TMATCH" # long under sanitizers, which see the same code in other tests
# Every strategy finds the same, matches and margins; -v says why windows were not left out.
data brick.png camera.png coffee.png text.png
results() { sed -n 's/.*"matches":\(.*\),"algorithm":.*/\1/p'; }

# Best matches and several, with and without a threshold, in frames that have the template and that do not.
for template in 'camera.png[21x21+220+90]' 'camera.png[64x48+300+200]' 'brick.png[40x30+100+60]' 'text.png[9x9+50+60]'; do
    for frame in camera.png brick.png; do
        for how in '-n 1' '-n 3' '-n 1 --min-score 0.9' '-n 0 --min-score 0.7' '-n 5 --overlap 0' '-n 2 --domain full'; do
            for search in exhaustive certified auto; do
                tmatch -q --format json --algorithm direct --search $search $how $frame "$template" |
                    results >$search
                tmatch -q --search $search $how $frame "$template" >$search.text
            done
            cmp exhaustive certified && cmp exhaustive auto || echo "$template, $frame, $how"
            cmp exhaustive.text certified.text && cmp exhaustive.text auto.text || echo "$template, $frame, $how"
        done
    done
done
cat exhaustive

# What json says.
search() { sed -n 's/.*"algorithm":"\([a-z]*\)",\("search".*\),"device".*/\1 \2/p'; }
tmatch --format json --algorithm direct --search exhaustive camera.png 'camera.png[21x21+220+90]' | search
tmatch --format json --algorithm reference camera.png 'camera.png[5x5+220+90]' | grep -c search

# What stays exhaustive.
why() {
    tmatch -v --format json --device cpu --algorithm direct --search certified "$@" 2>err | search
    sed -n 's/.*\(no certified search: [^,]*\).*/\1/p' err
}
why --map map.npy camera.png 'camera.png[21x21+220+90]'
why --metric ccoeff camera.png 'camera.png[21x21+220+90]'
why --color coffee.png 'coffee.png[21x21+220+90]'
why --depth 16 camera.png 'camera.png[21x21+220+90]'
why --depth float camera.png 'camera.png[21x21+220+90]'
why --frame-mask camera.png camera.png 'camera.png[21x21+220+90]'

# The definition finds the same.
tmatch --verify --device cpu --search certified 'camera.png[60x50+200+80]' 'camera.png[21x21+220+90]'
