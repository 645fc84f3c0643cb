/* SPDX-License-Identifier: MIT */
/* The steps of a match by our own transforms: which kernels, and their roots. */
#include <math.h>
#include <stdlib.h>

#include "fft/cuda/fft.cuh"
#include "integers.h"
#include "lcc/cuda/memory.cuh"

static bool has_room(const tm_fft_kernels *k, int shared_bytes)
{
    return k->row_bytes <= (size_t)shared_bytes && k->column_bytes <= (size_t)shared_bytes;
}

int tm_fft_longest(int shared_bytes)
{
    int longest = 0;
    for (const tm_fft_kernels *k = tm_fft_kernel_table(); k->length; k++) {
        if (has_room(k, shared_bytes))
            longest = k->length;
    }
    return longest;
}

static const tm_fft_kernels *find_kernels(int length)
{
    const tm_fft_kernels *k = tm_fft_kernel_table();
    while (k->length && k->length != length)
        k++;
    return k->length ? k : NULL;
}

/* exp(-2 pi i j / n), each part rounded once from long double. */
static double2 root(int j, int n)
{
    const long double angle = 2 * 3.14159265358979323846264338327950288L * j / n;
    return make_double2((double)cosl(angle), (double)-sinl(angle));
}

/* Fills in the roots of a length's passes, in the order that the kernels take them; returns how many there are. NULL: only that. */
static int fill_roots(const tm_fft_kernels *k, double2 *roots)
{
    int count = 0;
    for (int pass = 0, points = k->length; pass < 3 && k->radices[pass + 1] > 1; pass++) {
        const int distance = points / k->radices[pass];
        for (int i = 0; roots && i < distance; i++) {
            roots[count + i] = root(i, points);
            roots[count + distance + i] = root(4 * i % points, points);
        }
        count += 2 * distance;
        points = distance;
    }
    return count;
}

static cudaError_t upload_roots(double2 **roots, const tm_fft_kernels *k, cudaStream_t stream)
{
    const size_t size = (size_t)fill_roots(k, NULL) * sizeof(double2);
    double2 *host = (double2 *)malloc(size);
    if (!host)
        return cudaErrorMemoryAllocation;
    fill_roots(k, host);
    cudaError_t error = tm_device_malloc((void **)roots, size);
    if (error == cudaSuccess)
        error = TM_CALL(cudaMemcpyAsync(*roots, host, size, cudaMemcpyHostToDevice, stream));
    if (error == cudaSuccess)
        error = TM_CALL(cudaStreamSynchronize(stream));
    if (error != cudaSuccess) {
        tm_device_free(*roots);
        *roots = NULL;
    }
    free(host);
    return error;
}

static cudaError_t prepare_length(tm_fft_device *fft, int length, const double2 **roots,
                                  cudaStream_t stream)
{
    const tm_fft_kernels *k = find_kernels(length);
    if (!k || !has_room(k, fft->shared_bytes))
        return cudaErrorInvalidConfiguration;
    const ptrdiff_t i = k - tm_fft_kernel_table();
    if (!fft->ready[i]) {
        if (!fft->roots[i])
            TRY(upload_roots(&fft->roots[i], k, stream));
        TRY(k->prepare());
        fft->ready[i] = true;
    }
    *roots = fft->roots[i];
    return cudaSuccess;
}

static int64_t tile_column_bytes(const tm_fft_job *job, int64_t tiles)
{
    return (tiles * job->tiling.step_y + job->job.height - 1) * job->tiling.length_x *
           (int64_t)sizeof(double2);
}

static int64_t count_candidates(const tm_fft_job *job)
{
    const int rows = find_kernels(job->tiling.length_x)->rows_at_once;
    return ceil_div(job->band.rows, rows) * job->band.across;
}

static cudaError_t prepare(tm_fft_device *fft, tm_fft_job *job, int64_t, cudaStream_t stream)
{
    TRY(prepare_length(fft, job->tiling.length_x, &job->roots_x, stream));
    return prepare_length(fft, job->tiling.length_y, &job->roots_y, stream);
}

static cudaError_t rows_and_columns(const tm_fft_job *job, bool of_template, cudaStream_t stream)
{
    const tm_fft_kernels *x = find_kernels(job->tiling.length_x);
    TRY(job->f32.taps ? x->f32_rows(job, of_template, stream) : x->rows(job, of_template, stream));
    return find_kernels(job->tiling.length_y)->columns(job, of_template, stream);
}

static cudaError_t make_spectrum(const tm_fft_job *job, cudaStream_t stream)
{
    return rows_and_columns(job, true, stream);
}

static cudaError_t correlate(const tm_fft_job *job, cudaStream_t stream)
{
    return rows_and_columns(job, false, stream);
}

static cudaError_t finish(const tm_fft_job *job, cudaStream_t stream)
{
    const tm_fft_kernels *x = find_kernels(job->tiling.length_x);
    return job->f32.taps ? x->f32_sums(job, stream) : x->sums(job, stream);
}

const tm_fft_steps tm_own_fft_steps = {tile_column_bytes, prepare, make_spectrum,
                                       correlate,   finish,  count_candidates};
