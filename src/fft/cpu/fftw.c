/* SPDX-License-Identifier: MIT */
/* Transforms by FFTW 3, or by a library with its interface. */
#include <fftw3.h>
#include <pthread.h>
#include <stdlib.h>

#include "fft/cpu/transform.h"

const bool tm_fft_measures = true;

struct tm_fft_transform {
    fftw_plan forward, backward;
};

/* FFTW's planner has global state; only executing plans is thread-safe. This
 * keeps matchers apart. A program that plans transforms of its own while another
 * of its threads matches calls fftw_make_planner_thread_safe. */
static pthread_mutex_t planner = PTHREAD_MUTEX_INITIALIZER;

tm_fft_transform *tm_fft_transform_make(int length, bool measured, uint32_t features)
{
    const unsigned flags = measured ? FFTW_MEASURE : FFTW_ESTIMATE;
    fftw_complex *points = aligned_alloc(64, ((size_t)length * sizeof *points + 63) / 64 * 64);
    tm_fft_transform *made = points ? malloc(sizeof *made) : NULL;

    (void)features;
    if (made) {
        pthread_mutex_lock(&planner);
        made->forward = fftw_plan_dft_1d(length, points, points, FFTW_FORWARD, flags);
        made->backward = fftw_plan_dft_1d(length, points, points, FFTW_BACKWARD, flags);
        pthread_mutex_unlock(&planner);
        if (!made->forward || !made->backward) {
            tm_fft_transform_free(made);
            made = NULL;
        }
    }
    free(points);
    return made;
}

void tm_fft_transform_free(tm_fft_transform *transform)
{
    if (!transform)
        return;
    pthread_mutex_lock(&planner);
    if (transform->forward)
        fftw_destroy_plan(transform->forward);
    if (transform->backward)
        fftw_destroy_plan(transform->backward);
    pthread_mutex_unlock(&planner);
    free(transform);
}

void tm_fft_forward(const tm_fft_transform *transform, tm_fft_point *points, tm_fft_point *work)
{
    (void)work;
    fftw_execute_dft(transform->forward, points, points);
}

void tm_fft_backward(const tm_fft_transform *transform, tm_fft_point *points, tm_fft_point *work)
{
    (void)work;
    fftw_execute_dft(transform->backward, points, points);
}
