/* SPDX-License-Identifier: MIT */
/* Certified search: what a window has to score to matter, learned before windows are listed. The best match of a
 * map that is the device's alone is learned on the device; for the best few, and with other devices, the
 * host chooses. */
#include "cuda/certified.cuh"

#include "cuda/context.cuh"
#include "integers.h"

/* What is waited for other devices at most, of the time that it takes to score all windows. */
#define MOST_WAIT 0.5

static cudaError_t bring(tm_cuda *cuda, const tm_certified_job *job, bool climbs)
{
    tm_certified_learned *to = cuda->learned;

    if (!to)
        TRY_CUDA(cudaMallocHost((void **)&cuda->learned, sizeof *to));
    to = cuda->learned;
    TRY_CUDA(cudaMemcpyAsync(to, job->state, climbs ? sizeof *to : sizeof to->state, cudaMemcpyDeviceToHost,
                             cuda->stream));
    return TM_CALL(cudaStreamSynchronize(cuda->stream));
}

/* The peaks of the slice's own rows go first, and how many those are. */
static size_t own_peaks(tm_certified_learned *learned, const tm_job *asked)
{
    const int64_t width = asked->geometry.map_width;
    size_t count = 0;

    for (unsigned i = 0; i < learned->state.climbed; i++) {
        const tm_candidate peak = learned->climbed[i];
        if (peak.position >= asked->first_row * width && peak.position < asked->last_row * width)
            learned->climbed[count++] = peak;
    }
    return count;
}

/* What others know, who are told what is known here. */
static int64_t exchange(tm_seat *seat, int64_t least, double other_ms)
{
    tm_seat_tell(seat, least);
    return tm_seat_wait(seat, MOST_WAIT * other_ms);
}

cudaError_t tm_certified_learn(tm_cuda *cuda, tm_launch *l, const tm_job *asked, tm_certified_job *job, bool *pays)
{
    const bool climbs = asked && asked->cutter;
    const int multiprocessors = cuda->traits.multiprocessors;
    int64_t least = INT32_MIN;

    *pays = true;
    /* a sweep finds a first best itself, if nobody else is to know it before */
    if (climbs || !tm_certified_sweeps(job) || (asked && asked->seat))
        TRY((climbs ? tm_certified_climb : tm_certified_first)(job, multiprocessors, cuda->stream));
    if (asked && asked->known)
        job->known = (int)larger(asked->known->value, INT32_MIN);
    if (!climbs && !(asked && asked->seat))
        return cudaSuccess;
    TRY(bring(cuda, job, climbs));
    tm_certified_learned *learned = cuda->learned;
    if (climbs)
        least = asked->cutter->choose(asked->cutter, asked, learned->climbed, own_peaks(learned, asked));
    else
        least = tm_certified_order(learned->state.best);
    if (asked->seat)
        least = exchange(asked->seat, least, asked->other_ms);
    job->known = (int)larger(least, job->known);
    if (!climbs)
        return cudaSuccess;
    *pays = least > INT32_MIN && tm_score_of_order((int)least) > job->level.fine.least;
    if (*pays) {
        asked->peaks->cut = least;
        l->reaching.least = job->reaching.least = (int)least;
    }
    return cudaSuccess;
}
