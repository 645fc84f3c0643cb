/* SPDX-License-Identifier: MIT */
/* The measurements for the plan's cost model, on the CPU and on a GPU. */
#ifndef TMATCH_BENCH_COSTS_H
#define TMATCH_BENCH_COSTS_H

#include "fft/tiling.h"
#include "options.h"

/* Makes a job in a frame of noise, and fills the frame's samples. False if it fails,
 * which it says. */
bool costs_job(tm_job *job, uint8_t *samples, int64_t width, int64_t height, int64_t template_width,
               int64_t template_height);
void costs_job_free(tm_job *job);

/* Finds the tiling whose transforms have these lengths; false if there is none. */
bool costs_tile(tm_fft_tiling *tiling, const tm_geometry *geometry, int length_x, int length_y);

/* fit_costs.py sorts the results by kind. */
bool costs_report(bench_report *report, const char *kind, const char *kernels, const tm_job *job, double ms);

bool costs_cpu(bench_report *report);
bool costs_cuda(bench_report *report, int index, int samples, bool only_copies);

#endif
