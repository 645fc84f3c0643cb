#!/bin/bash
# SPDX-License-Identifier: MIT
# Matches frames in shards that GNU parallel starts, here or on machines that share this folder:
#
#     examples/parallel.sh 8 -t logo.png -r frames/
#     PARALLEL='--sshlogin a,b,c --workdir .' examples/parallel.sh 24 -t logo.png -r frames/
#
# The first argument is the number of shards. One runs on each machine at a time, which uses all its cores; JOBS says
# how many else. A shard that dies is started again, and goes on from its log.
set -u
shards=$1
shift
# An exit status up to 2 tells of frames, not of a shard that died.
parallel --jobs "${JOBS:-1}" --retries 5 --quote sh -c \
    'tmatch -q --shard "$0" --resume "log.${0%/*}" "$@" >/dev/null; [ $? -le 2 ]' "{}/$shards" "$@" ::: $(seq "$shards")
# shellcheck disable=SC2046 # names without spaces
tmatch --merge $(seq -f 'log.%.0f' "$shards")
