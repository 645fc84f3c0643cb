#!/bin/bash
# SPDX-License-Identifier: MIT
# The manual page, the completions and the documents' table of options against the program and the
# shells. Arguments: the folder they were generated in, the generator, the program, the document
# with the table. TAP.
set -u
manual=$(realpath "$1") generate=$2 tmatch=$3 document=$4
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export LC_ALL=C.UTF-8 HOME=$scratch TERM=xterm
. "$(dirname "$0")/tap.sh"
check_with() { # TOOL NAME COMMAND...
    if command -v "$1" >/dev/null; then
        shift
        check "$@"
    else
        skip "$2" "no $1"
    fi
}
is() { # EXPECTED ACTUAL
    [ "$1" = "$2" ] || { printf 'expected: %s\nactual:   %s\n' "$1" "$2"; return 1; }
}

# --- The document's table, and the manual page.
same_table() {
    "$generate" table "$document" | diff -u "$document" - ||
        { echo "run: ninja option-table"; return 1; }
}
help_options() { "$tmatch" --help | sed -n 's/^  \(-., \|    \)\(--[a-z-]*\).*/\2/p'; }
help_has_all_options() {
    echo '@bash-options@' >"$scratch/names"
    is "$("$generate" fill "$scratch/names" | grep -o -e '--.*')" "$(help_options)"
}
has_all_options() {
    [ "$(help_options | wc -l)" -ge 40 ] || return 1
    for option in $(help_options); do
        grep -q -e "^\.It.* Fl -${option#--}\( \|\$\)" "$manual/tmatch.1" || echo "no $option"
    done | { ! grep .; }
}
# Pages that it refers to need not be installed here.
lint() { ! mandoc -Tlint "$manual/tmatch.1" 2>&1 | grep -v -e 'mandoc\.db' -e 'referenced manual not found'; }
renders() {
    ! MANWIDTH=80 man --warnings -l "$manual/tmatch.1" 2>&1 >"$scratch/page" | grep . || return 1
    [ "$(wc -L <"$scratch/page")" -le 80 ] || return 1
    grep -q -e '--min-score S' "$scratch/page"
}
check "the document's table is the one of the options" same_table
check "--help has every option, in order" help_has_all_options
check "the manual page has every option of --help" has_all_options
check_with mandoc "mandoc finds nothing wrong" lint
# A minimized system has a program of that name that only says so.
man --version 2>/dev/null | grep -q '^man ' && man=man || man=man-db
check_with $man "man shows the page without warnings" renders

# --- Completion. The folder has a picture, another file and a folder.
mkdir -p "$scratch/files/folder"
cd "$scratch/files" || exit 1
touch 'a scene.PNG' notes.doc page.html

bash_completes() { # WITH_LIBRARY LINE EXPECTED; the line is split as Readline does it
    is "$3" "$(bash --norc -c '
        [ "$1" = no ] || . /usr/share/bash-completion/bash_completion
        . "$2"
        read -r -a COMP_WORDS <<<"${3//=/ = }"
        [[ $3 != *[\ =] ]] || COMP_WORDS+=("")
        [[ $3 != *= ]] || unset "COMP_WORDS[-1]"
        COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) COMP_LINE=$3 COMP_POINT=${#3}
        _tmatch
        printf "%s\n" "${COMPREPLY[@]}" | sort | paste -s -d "|"' \
        bash "$1" "$manual/tmatch" "$2" 2>/dev/null)"
}
completes_options() { # TRY: called with a line and what completes it
    "$1" 'tmatch --met' '--metric' && "$1" 'tmatch --list' '--list-devices' &&
        "$1" 'tmatch -o x.png --cro' '--crops'
}
completes_choices() {
    "$1" 'tmatch --format j' json && "$1" 'tmatch --domain f' full &&
        "$1" 'tmatch --depth ' '16|8|auto|float' && "$1" 'tmatch --format=c' csv
}
without_library() { bash_completes no "$@"; }
with_library() { bash_completes yes "$@"; }
bash_completes_files() {
    with_library 'tmatch ' 'a scene.PNG|folder' && with_library 'tmatch -t ' 'a scene.PNG|folder' &&
        with_library 'tmatch --crops ' folder && with_library 'tmatch --report ' 'folder|page.html' &&
        with_library 'tmatch x.png n' notes.doc && with_library 'tmatch -n ' '' &&
        with_library 'tmatch --report=p' page.html
}
check "bash completes options" completes_options without_library
check "bash completes choices" completes_choices without_library
check "bash offers files without its library" without_library 'tmatch -- p' page.html
if [ -e /usr/share/bash-completion/bash_completion ]; then
    check "bash completes files" bash_completes_files
else
    count=$((count + 1))
    echo "ok $count bash completes files # SKIP no bash-completion"
fi

fish_completes() {
    is "$2" "$(fish --no-config -c '
        source $argv[1]
        complete -C $argv[2]' "$manual/tmatch.fish" "$1" |
        cut -f 1 | sed 's/^.*=//' | sort | paste -s -d '|')"
}
fish_completes_files() {
    fish_completes 'tmatch ' 'a scene.PNG|folder/' && fish_completes 'tmatch -t ' 'a scene.PNG|folder/' &&
        fish_completes 'tmatch --crops ' folder/ && fish_completes 'tmatch --report p' page.html &&
        fish_completes 'tmatch x.png n' notes.doc && fish_completes 'tmatch -n ' ''
}
check_with fish "fish completes options" completes_options fish_completes
check_with fish "fish completes choices" completes_choices fish_completes
check_with fish "fish completes files" fish_completes_files

# An interactive shell on a terminal of its own: Tab, then a key that writes the line into a file.
zsh_completes() { # LINE EXPECTED
    rm -f "$scratch/line"
    mkdir -p "$scratch/zsh" && cp "$manual/_tmatch" "$scratch/zsh"
    zsh -f -c '
        zmodload zsh/zpty
        zpty shell zsh -f -i
        zpty -w shell "fpath=($1/zsh \$fpath); autoload -Uz compinit; compinit -u -d $1/dump"
        zpty -w shell "unsetopt automenu; zstyle \":completion:*\" list-prompt \"\""
        zpty -w shell "show() { print -r -- \"\$BUFFER\" >$1/line.new; mv $1/line.new $1/line }"
        zpty -w shell "zle -N show; bindkey ^T show; print ready"
        while zpty -r shell text; do [[ $text != ready* ]] || break; done
        zpty -wn shell "$2"$'"'\\t\\C-t'"'
        for n in {1..600}; do [[ ! -e $1/line ]] || break; sleep 0.05; done
        zpty -d shell' zsh "$scratch" "$1"
    is "$2" "$(cat "$scratch/line")"
}
zsh_completes_options() {
    zsh_completes 'tmatch --met' 'tmatch --metric=' && zsh_completes 'tmatch --list' 'tmatch --list-devices '
}
zsh_completes_choices() {
    zsh_completes 'tmatch --format j' 'tmatch --format json ' &&
        zsh_completes 'tmatch --format=c' 'tmatch --format=csv ' &&
        zsh_completes 'tmatch --domain f' 'tmatch --domain full '
}
zsh_completes_files() {
    zsh_completes 'tmatch a' 'tmatch a\ scene.PNG ' && zsh_completes 'tmatch --crops ' 'tmatch --crops folder/' &&
        zsh_completes 'tmatch --report p' 'tmatch --report page.html ' &&
        zsh_completes 'tmatch x.png n' 'tmatch x.png notes.doc '
}
check_with zsh "zsh completes options" zsh_completes_options
check_with zsh "zsh completes choices" zsh_completes_choices
check_with zsh "zsh completes files" zsh_completes_files
echo "1..$count"
