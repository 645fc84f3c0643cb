/* SPDX-License-Identifier: MIT */
/* tmatch --bench: how fast this machine is, and whether its devices agree. */
#ifndef TMATCH_CLI_BENCH_H
#define TMATCH_CLI_BENCH_H

#include <tmatch/tmatch.h>

/* Times the best match in frames of noise, on one CPU thread, on all of them and on every CUDA
 * device, and prints a table. sizes has FRAME,TEMPLATE entries, WxH or N, separated by spaces:
 * "1920x1080,64x48 5020,21"; NULL: a few usual ones. Of the settings, metric, domain, algorithm,
 * threads and cpu_features count, and a device other than AUTO is measured alone. Returns the exit
 * status: 0, or 2 after a message on standard error, where a size or device cannot be measured or
 * two devices differ in a bit. */
int cli_bench(const char *sizes, const tm_settings *settings);

#endif
