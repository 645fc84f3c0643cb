# SPDX-License-Identifier: MIT
# where: ulimit -v 150000 && tmatch --version
# status: 2
# --merge of a log whose line memory does not hold.
truncate -s 300M log
ulimit -v 150000
tmatch --merge log
