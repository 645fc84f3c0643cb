#!/bin/bash
# SPDX-License-Identifier: MIT
# A SLURM array that matches frames, a shard a task. In a folder that all nodes see:
#
#     id=$(sbatch --parsable examples/slurm.sh -t logo.png -r /data/frames)
#     sbatch --dependency=afterany:"$id" --wrap 'tmatch --merge log.* >results'
#
# With another number of shards, of which each takes as many cores as it is given:
#
#     SHARDS=100 sbatch --array=1-100 --cpus-per-task=16 examples/slurm.sh -t logo.png -r /data/frames
#
# Shards that --merge names are run again by their number, and go on from their logs: sbatch --array=3,7 ...
#SBATCH --job-name=tmatch
#SBATCH --array=1-8
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=tmatch.%a.out
set -u
shard=$SLURM_ARRAY_TASK_ID
shards=${SHARDS:-8}

# The results are in the log, from which --merge prints them.
tmatch -q --shard "$shard/$shards" --resume "log.$shard" --threads "${SLURM_CPUS_PER_TASK:-0}" "$@" >/dev/null
status=$?

# Killed, by the kernel for want of memory for example: once more. What kills the node has SLURM do that, for --requeue.
if [ $status -gt 128 ] && [ "${SLURM_RESTART_COUNT:-0}" -lt 5 ]; then
    scontrol requeue "$SLURM_JOB_ID"
fi
# 1 is that nothing reached --min-score, which is no failure of the task.
[ $status -ne 1 ] || status=0
exit $status
