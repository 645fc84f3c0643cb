# SPDX-License-Identifier: MIT
# Results as TAP, for scripts that source this and end with: echo "1..$count"
count=0

check() { # NAME COMMAND...
    tap_name=$1
    shift
    count=$((count + 1))
    tap_began=$(date +%s)
    if tap_output=$("$@" 2>&1); then
        echo "ok $count $tap_name"
    else
        echo "not ok $count $tap_name"
        echo "$tap_output" | tail -n 60 | sed 's/^/# /'
    fi
    tap_took=$(($(date +%s) - tap_began))
    [ "$tap_took" -lt 5 ] || echo "# it took $tap_took s"
}

skip() { # NAME REASON
    count=$((count + 1))
    echo "ok $count $1 # SKIP $2"
}
