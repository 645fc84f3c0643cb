# SPDX-License-Identifier: MIT
# needs: libseccomp
# where: grep '^Seccomp:' /proc/self/status
# Decoders live with the limits that tmatch was started under.
data camera.png
ulimited() { # OPTION LIMIT
    (ulimit -S "$1" "$2" && try -q --device cpu --threads 1 --sandbox camera.png 'camera.png[50x50+1+2]' 2>&1)
}
ulimited -n 16
# Shells count in blocks of 512 or 1024 bytes, and the samples take 256 of the latter.
ulimited -f 2000
ulimited -f 200
# Not even its version is told where the address sanitizer takes terabytes.
{ (ulimit -S -v 600000 && "$TMATCH" --version >version); status=$?; } 2>/dev/null # the shell tells of aborts
[ $status -ne 0 ] || ulimited -v 600000 >limited
ulimited -v unlimited >unlimited
[ ! -e limited ] || diff limited unlimited
cat unlimited
