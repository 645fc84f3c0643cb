#!/bin/sh
# SPDX-License-Identifier: MIT
# What README.md tells a newcomer to do, done in a bare root: the demo, the installation,
# the C example and the Python module. Arguments: source directory, a folder that keeps downloads. TAP.
set -u
source=$1 cache=$2
. "$source/tests/tap.sh"
. "$source/tests/bare/lib.sh"
bare_begin "$cache" readme

in_root() { bare_run "$root" "cd /srv/tmatch && $1"; }
prints() { # EXPECTED COMMAND
    output=$(in_root "$2" 2>&1)
    echo "$output"
    [ "$output" = "$1" ]
}

# The commands are the documents', to the letter.
readme=$source/README.md
from_c=$(cd "$source" && grep -l '^ *cc find\.c ' README.md docs/*.md | head -n 1)
example=$(sed -n 's/^ *\$* *\(cc find\.c .*\)/\1/p' "$source/$from_c")
expected=$(sed -n '/^ *\$* *cc find\.c /{n;s/^ *//p}' "$source/$from_c")
python_packages=$(sed -n 's/^ *sudo apt-get\( install python3.*\)/apt-get -qq -y\1/p' "$readme")
python_install=$(sed -n 's/^ *\(python3 -m venv.*pip install \.\)$/\1/p' "$readme")
reaches_pypi() { in_root "venv/bin/pip download -q --no-deps -d /tmp/pypi meson-python" >/dev/null 2>&1; }
# What the comment behind print(best) says.
python_example() {
    awk '/^```python$/ {on = 1; next} /^```$/ {on = 0} on' "$readme" >"$root/srv/tmatch/readme.py"
    prints "$(sed -n 's/.*  # //p' "$root/srv/tmatch/readme.py")" "venv/bin/python readme.py"
}
# Those that show that module, program and sandbox were installed whole: the others see the same code in the build tree.
python_tests() {
    in_root "venv/bin/pip install -q pytest numpy && cd tests/python && TMATCH_TEST_CASES=20 ../../venv/bin/python run.py \
        test_arrays.py test_match.py test_program.py test_sandbox.py -k 'not poses'" >"$root/tap" 2>&1
    grep -v '^ok' "$root/tap"
    grep -q '^ok' "$root/tap" && grep -q '^1\.\.' "$root/tap" && ! grep '^not ok' "$root/tap"
}
has_commands() {
    [ -n "$python_packages" ] && [ -n "$python_install" ] &&
    grep '^ *\$* *scripts/demo' "$readme" && grep 'meson install -C build' "$readme" && [ -n "$example" ] && [ -n "$expected" ]
}
names_packages() {
    output=$(in_root "setpriv --reuid=65534 --clear-groups scripts/demo" 2>&1) && return 1
    echo "$output"
    echo "$output" | grep -q '^ *apt-get install gcc .*libpng-dev'
}
files() { (cd "$root/srv/tmatch" && find . -path ./build -prune -o -type f -print | LC_ALL=C sort); }
leaves_nothing() { files | diff "$root/before" -; }
write_example() {
    awk '/^```c$/ {on = 1; next} /^```$/ {on = 0} on' "$source/$from_c" >"$root/srv/tmatch/find.c"
    [ -s "$root/srv/tmatch/find.c" ]
}

check "README.md has the commands" has_commands
check "a bare root" bare_root "$root" "$cache"
bare_sources_copy "$source" "$root/srv/tmatch"
check "who may install nothing is told what is missing" names_packages
files >"$root/before"
# The compiler's time: what it makes of full optimization is tested elsewhere.
check "scripts/demo" in_root "export CFLAGS=-O0; scripts/demo"
check "leaves nothing beside build/" leaves_nothing
check "meson install -C build" in_root "meson install -C build"
write_example
check "the C example" prints "$expected" "$example"
check "the program is on the path" in_root "tmatch data/astronaut.png data/patch.jpg"
check "the packages for Python" in_root "$python_packages >/dev/null"
in_root "python3 -m venv venv" >/dev/null 2>&1
if reaches_pypi; then
    check "pip install ." in_root "export CFLAGS=-O0; $python_install"
    check "the Python example" python_example
    check "examples/find.py" prints "x=300 y=200 score=1" "venv/bin/python examples/find.py"
    check "python -m tmatch" in_root "venv/bin/python -m tmatch data/astronaut.png data/patch.jpg"
    check "the tests of the Python module" python_tests
else
    skip "pip install ." "PyPI cannot be reached, from which pip takes meson-python"
fi
echo "1..$count"
