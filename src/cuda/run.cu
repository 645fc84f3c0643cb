/* SPDX-License-Identifier: MIT */
#include "cuda/run.cuh"

#include "cuda/chunks.cuh"
#include "cuda/context.cuh"
#include "cuda/f32.cuh"
#include "cuda/on_device.cuh"
#include "cuda/planes.cuh"
#include "integers.h"

static cudaError_t fit_bests(tm_cuda *cuda, size_t count)
{
    TRY(tm_buffer_fit(&cuda->bests, count * sizeof(tm_candidate)));
    if (cuda->pinned_bests_count >= count)
        return cudaSuccess;
    cuda->pinned_bests_count = 0;
    cudaFreeHost(cuda->pinned_bests);
    cuda->pinned_bests = NULL;
    /* and one more, for tm_ask_floats */
    TRY_CUDA(cudaMallocHost((void **)&cuda->pinned_bests, (count + 1) * sizeof(tm_candidate)));
    cuda->pinned_bests_count = count;
    return cudaSuccess;
}

/* How many best candidates a group of jobs of 8-bit gray writes: one of each job for each chunk, and
 * where windows may be left out at least as many counts. */
static size_t plain_bests(const tm_cuda *cuda, const tm_job *jobs, size_t count)
{
    const tm_walk walk = tm_walk_of(cuda, jobs);
    return count * (size_t)tm_chunks_count(&walk.chunks) * (tm_cuda_certified_takes(cuda, jobs) ? 2 : 1);
}

typedef struct plain_run {
    tm_cuda *cuda;
    const tm_job *job;
    tm_launch *whole;
    tm_candidate *bests; /* of the next chunk */
} plain_run;

/* After all rows. */
static cudaError_t launch_peaks(tm_cuda *cuda, const tm_peak_job *p)
{
    return p->map            ? tm_peaks_launch(p, cuda->stream)
           : p->windows.keys ? tm_windows_launch(p, cuda->stream)
                             : cudaSuccess;
}

static cudaError_t launch_chunk(void *context, int64_t first, int64_t end, int64_t)
{
    plain_run *run = (plain_run *)context;
    tm_cuda *cuda = run->cuda;

    if (run->whole->certified) {
        TRY(tm_certified_rows(cuda, run->whole, first, end));
    } else {
        tm_launch l = tm_launch_rows(cuda, run->whole, first, end, run->bests);
        TRY(tm_launch_start(cuda, &l));
        run->whole->on_tensor_cores = l.on_tensor_cores;
        run->bests += l.group->count;
    }
    if (end == run->job->geometry.map_height)
        TRY(launch_peaks(cuda, &cuda->last.peaks));
    return tm_note_matched(cuda);
}

/* Where windows are left out, those that reach what the list asks for are written as they are scored. */
static cudaError_t prepare_peaks(tm_cuda *cuda, const tm_job *job, tm_launch *launch)
{
    tm_peak_job *p = &cuda->last.peaks;

    if (!job->peaks)
        return cudaSuccess;
    if (!launch->certified)
        return tm_peaks_prepare(&cuda->peaks, p, job, cuda->map.data, cuda->stream);
    TRY(tm_windows_prepare(&cuda->peaks, p, job, cuda->stream));
    const int64_t least = smaller(tm_peak_list_least(job->peaks), INT32_MAX);
    launch->reaching = (tm_certified_reaching){(int)larger(least, INT32_MIN), p->windows.count, p->windows.keys,
                                               p->windows.capacity};
    return cudaSuccess;
}

/* Where the best was not known, that is not tried again for a while, unless it is for the bits that samples have. */
static void note_not_known(tm_cuda *cuda, const tm_job *jobs)
{
    if (jobs->scored == TM_NOT_KNOWN && !cuda->has_new_bits && cuda->leaves_out.frames == 0) // once for all jobs of a call
        tm_rest_longer(&cuda->leaves_out);
}

/* The jobs' group, with what they need of it, and whether windows are left out. */
static cudaError_t fetch_group(tm_cuda *cuda, const tm_job *jobs, size_t count, tm_group **group, bool *certified)
{
    *certified = tm_cuda_certified_takes(cuda, jobs);
    if (*certified) {
        TRY(tm_fetch_certified_group(cuda, jobs, count, group));
        *certified = tm_cuda_certified_pays(&(*group)->certified);
        if (*certified)
            return cudaSuccess;
    }
    TRY(tm_fetch_group(cuda, jobs, count, group));
    note_not_known(cuda, jobs);
    if (cuda->all_windows && jobs->scored != TM_NOT_KNOWN)
        tm_certified_note_too_many(&(*group)->certified);
    return cudaSuccess;
}

/* Runs such a group, whose best candidates go to bests, and with its last chunk the search for
 * peaks. */
static cudaError_t run_plain(tm_cuda *cuda, tm_job *jobs, size_t count, tm_candidate *bests)
{
    tm_launch *launch = &cuda->last.launch;
    const tm_geometry *g = &jobs->geometry;
    const tm_walk walk = tm_walk_of(cuda, jobs);
    tm_group *group;
    bool certified;

    TRY(fetch_group(cuda, jobs, count, &group, &certified));
    *launch = tm_launch_of(group, jobs->metric);
    launch->certified = certified;
    launch->may_leave_out = !certified && count == 1 && tm_may_leave_out(cuda, jobs);
    if (!launch->certified)
        TRY(tm_prepare_map(cuda, jobs));
    for (size_t i = 0; i < count; i++)
        jobs[i].scored = launch->certified ? TM_LEFT_OUT : g->map_width * g->map_height;
    launch->plane_rows = cuda->plain.copy.layout.rows;
    (tm_device_windows &)launch->job = tm_windows_of(g);
    launch->job.frame = (const uint8_t *)cuda->plain.memory.data;
    launch->job.pitch = cuda->plain.copy.layout.pitch;
    launch->job.map = tm_job_has_map(jobs) && !launch->certified ? cuda->map.data : NULL;
    launch->job.best = bests;
    if (jobs->cutter)
        jobs->peaks->cut = INT64_MIN;
    if (launch->certified)
        launch->asked = jobs;
    else if (jobs->seat)
        tm_seat_leave(jobs->seat);
    TRY(tm_launch_prepare(cuda, launch, jobs->tiling));
    TRY(prepare_peaks(cuda, jobs, launch));
    plain_run run = {cuda, jobs, launch, bests};
    TRY(tm_walk_chunks(cuda, jobs, &walk, launch_chunk, &run));
    launch->asked = NULL;
    return jobs->map_staged ? tm_bring_map_back(cuda, jobs, 0, g->map_height) : cudaSuccess;
}

/* Sets the jobs' best and how many windows were scored from what certified search wrote. */
static void merge_certified(tm_job *jobs, size_t count, const tm_candidate *bests)
{
    const tm_certified_count *counts = (const tm_certified_count *)(bests + count);

    for (size_t i = 0; i < count; i++) {
        jobs[i].best = bests[i];
        jobs[i].scored = counts[i].too_many ? TM_TOO_MANY : counts[i].scored;
    }
}

/* Notes that much was left, which decides how the next frames are searched. */
static cudaError_t note_left(tm_cuda *cuda, const tm_job *jobs, size_t count, const tm_candidate *bests)
{
    const tm_certified_count *counts = (const tm_certified_count *)(bests + count);
    const int64_t windows = jobs->geometry.map_width * jobs->geometry.map_height;
    tm_group *group;

    if (!tm_certified_left_much(counts, count, windows))
        return cudaSuccess;
    TRY(tm_fetch_certified_group(cuda, jobs, count, &group));
    tm_certified_note(&group->certified, counts, count, windows);
    return cudaSuccess;
}

static bool is_none(const tm_candidate *best)
{
    const tm_candidate none = TM_NO_CANDIDATE;
    return best->value == none.value;
}

/* Takes from a best that is not known how many bits the frame's samples have, as far as they were seen. false: as many as were taken, or not of
 * 16 bits. */
static bool learn_bits(tm_cuda *cuda, const tm_candidate *none)
{
    const int64_t bits = INT64_MAX - none->position;

    if (bits < 1 || bits > 16)
        return false;
    cuda->pixel_bits = (int)bits;
    return cuda->pixel_bits != cuda->taken_bits;
}

/* Sets the jobs' best from those candidates. A chunk's positions count from its own first row. */
static void merge_plain(const tm_cuda *cuda, tm_job *jobs, size_t count, const tm_candidate *bests)
{
    const tm_geometry *g = &jobs->geometry;
    const tm_walk walk = tm_walk_of(cuda, jobs);

    for (size_t i = 0; i < count; i++)
        jobs[i].best = (tm_candidate)TM_NO_CANDIDATE;
    for (int64_t y = 0; y < g->map_height; y = tm_walk_end(&walk, y)) {
        for (size_t i = 0; i < count; i++) {
            tm_candidate best = *bests++;
            if (is_none(&best))
                jobs[i].scored = TM_NOT_KNOWN;
            else
                best.position += y * g->map_width;
            if (tm_candidate_beats(best, jobs[i].best))
                jobs[i].best = best;
        }
    }
}

/* The same of other formats. */
static void merge_others(tm_cuda *cuda, tm_job *jobs, size_t count, const tm_candidate *bests)
{
    const tm_candidate too_many = TM_TOO_MANY_LEFT;

    for (size_t i = 0; i < count; i++) {
        jobs[i].best = bests[i];
        if (is_none(&bests[i])) {
            jobs[i].scored = TM_NOT_KNOWN;
            if (learn_bits(cuda, &bests[i]) && cuda->pixel_bits > cuda->taken_bits)
                cuda->has_new_bits = !cuda->had_new_bits;
        } else if (bests[i].value == too_many.value) {
            jobs[i].scored = TM_TOO_MANY;
        } else {
            jobs[i].scored = jobs[i].geometry.map_width * jobs[i].geometry.map_height;
        }
    }
}

/* How many best candidates a group writes. */
static size_t best_count(const tm_cuda *cuda, const tm_job *jobs, size_t size)
{
    return tm_job_is_plain(jobs) ? plain_bests(cuda, jobs, size) : size;
}

static cudaError_t launch_other(tm_cuda *cuda, const tm_job *job, const tm_walk *walk,
                                tm_candidate *best)
{
    return tm_job_is_f32(job) ? tm_f32_run(cuda, job, walk, best)
                              : tm_planes_run(cuda, job, walk, best);
}

/* Runs a job of any other format. */
static cudaError_t run_other(tm_cuda *cuda, const tm_job *job, tm_candidate *best)
{
    const tm_walk walk = tm_walk_of(cuda, job);

    note_not_known(cuda, job);
    TRY(tm_prepare_map(cuda, job));
    if (tm_job_is_f32(job))
        TRY(tm_f32_bring_taps(cuda, job));
    TRY(launch_other(cuda, job, &walk, best));
    cuda->last.job = *job;
    cuda->last.best = best;
    if (job->peaks) {
        TRY(tm_peaks_prepare(&cuda->peaks, &cuda->last.peaks, job, cuda->map.data, cuda->stream));
        TRY(tm_peaks_launch(&cuda->last.peaks, cuda->stream));
    }
    TRY(tm_note_matched(cuda));
    return job->map_staged ? tm_bring_map_back(cuda, job, 0, job->geometry.map_height) : cudaSuccess;
}

/* Runs jobs of another format than 8-bit gray. */
static cudaError_t run_others(tm_cuda *cuda, const tm_job *jobs, size_t count, tm_candidate *bests)
{
    if (count > 1) {
        const tm_walk walk = tm_walk_of(cuda, jobs);
        const cudaError_t error = tm_planes_run_masked(cuda, jobs, count, &walk, bests);
        if (error != cudaErrorNotSupported)
            return error == cudaSuccess ? tm_note_matched(cuda) : error;
    }
    for (size_t i = 0; i < count; i++)
        TRY(run_other(cuda, &jobs[i], bests + i));
    return cudaSuccess;
}

static cudaError_t run_groups(tm_cuda *cuda, tm_job *jobs, size_t count)
{
    tm_candidate *bests = (tm_candidate *)cuda->bests.data;

    for (size_t i = 0, size; i < count; i += size) {
        size = tm_group_size(jobs + i, count - i);
        cuda->last = (tm_last){};
        TRY(tm_prepare_frame(cuda, &jobs[i]));
        TRY(tm_job_is_plain(&jobs[i]) ? run_plain(cuda, jobs + i, size, bests)
                                      : run_others(cuda, jobs + i, size, bests));
        if (jobs[i].peaks)
            TRY(tm_peaks_fetch(&cuda->peaks, &cuda->last.peaks, jobs[i].peaks, cuda->stream));
        bests += best_count(cuda, jobs + i, size);
    }
    /* kernels wait for copies in, so that these are done too when the kernels are */
    return TM_CALL(cudaStreamWaitEvent(cuda->out, cuda->events[TM_EVENT_MATCHED], 0));
}

/* Leaves what was found on the device. As all of the frame is one chunk, and all windows are scored,
 * each job has one candidate. */
static cudaError_t leave_there(tm_cuda *cuda, tm_job *jobs, size_t count)
{
    TRY(tm_deliver(cuda, jobs, count, (const tm_candidate *)cuda->bests.data));
    TRY_CUDA(cudaEventRecord(cuda->events[TM_EVENT_DONE], cuda->out));
    for (size_t i = 0; i < count; i++)
        jobs[i].best = (tm_candidate)TM_NO_CANDIDATE;
    cuda->tensor_dirty = false;
    return cudaSuccess;
}

static cudaError_t run_jobs(tm_cuda *cuda, tm_job *jobs, size_t count)
{
    size_t bests = 0;

    for (size_t i = 0, size; i < count; i += size) {
        size = tm_group_size(jobs + i, count - i);
        bests += best_count(cuda, jobs + i, size);
    }
    TRY(fit_bests(cuda, bests));
    if (cuda->traits.tensor_cores && cuda->tensor_dirty) {
        TRY(tm_tensor_reset(&cuda->tensor, cuda->stream));
        TRY(tm_rounded_reset(cuda));
    }
    cuda->tensor_dirty = true;
    TRY(run_groups(cuda, jobs, count));
    if (tm_is_async(jobs))
        return leave_there(cuda, jobs, count);
    TRY(tm_ask_floats(cuda, jobs, (uint64_t *)(cuda->pinned_bests + bests)));
    TRY_CUDA(cudaMemcpyAsync(cuda->pinned_bests, cuda->bests.data, bests * sizeof(tm_candidate),
                             cudaMemcpyDeviceToHost, cuda->out));
    TRY_CUDA(cudaEventRecord(cuda->events[TM_EVENT_DONE], cuda->out));
    TRY_CUDA(cudaStreamSynchronize(cuda->out));
    cuda->tensor_dirty = false;
    if (!tm_are_finite(jobs, *(const uint64_t *)(cuda->pinned_bests + bests), &cuda->refusal))
        return cudaSuccess;
    const tm_candidate *found = cuda->pinned_bests;
    for (size_t i = 0, size; i < count; i += size) {
        size = tm_group_size(jobs + i, count - i);
        if (jobs[i].scored == TM_LEFT_OUT) {
            merge_certified(jobs + i, size, found);
            TRY(note_left(cuda, jobs + i, size, found));
        } else if (tm_job_is_plain(&jobs[i]))
            merge_plain(cuda, jobs + i, size, found);
        else
            merge_others(cuda, jobs + i, size, found);
        found += best_count(cuda, jobs + i, size);
    }
    return cudaSuccess;
}

static bool has_too_many(const tm_job *jobs, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (jobs[i].scored == TM_TOO_MANY || jobs[i].scored == TM_NOT_KNOWN)
            return true;
    }
    return false;
}

cudaError_t tm_run(tm_cuda *cuda, tm_job *jobs, size_t count)
{
    cuda->last = (tm_last){};
    cuda->bytes_in = cuda->bytes_out = 0;
    cuda->all_windows = false;
    cuda->had_new_bits = cuda->has_new_bits;
    cuda->has_new_bits = false;
    tm_forget_frame(cuda);
    for (size_t i = 0; i < count; i++)
        jobs[i].scored = jobs[i].geometry.map_width * jobs[i].geometry.map_height;
    for (size_t i = 0; i < count; i++)
        TRY(tm_find_staging(&jobs[i]));
    cuda->refusal.text[0] = '\0';
    TRY(tm_begin_on_device(cuda, jobs));
    TRY_CUDA(cudaEventRecord(cuda->events[TM_EVENT_START], cuda->in));
    TRY(run_jobs(cuda, jobs, count));
    for (size_t i = 0, size; i < count; i += size) {
        size = tm_group_size(jobs + i, count - i);
        cuda->all_windows = has_too_many(jobs + i, size);
        if (cuda->all_windows)
            TRY(run_jobs(cuda, jobs + i, size));
        cuda->all_windows = false;
    }
    return cudaSuccess;
}

bool tm_can_replay(const tm_cuda *cuda)
{
    return cuda->last.launch.group || cuda->last.job.tmpl;
}

static cudaError_t launch_again(tm_cuda *cuda, tm_last *last)
{
    if (last->launch.group) {
        TRY(tm_launch_start(cuda, &last->launch));
    } else {
        const tm_walk walk = tm_walk_without_copies(&last->job);
        TRY(launch_other(cuda, &last->job, &walk, last->best));
    }
    return launch_peaks(cuda, &last->peaks);
}

/* Whether a launch of all rows may leave windows out has not been seen where the frame came in chunks: so it is tried. */
static cudaError_t try_to_leave_out(tm_cuda *cuda, tm_last *last)
{
    const tm_launch *launch = &last->launch;
    tm_candidate best;
    const tm_candidate too_many = TM_TOO_MANY_LEFT;
    int tries = 0;

    last->again = true;
    last->all_windows = cuda->leaves_out.frames > 0;
    if (launch->group ? !launch->tensor.may_leave_out : last->all_windows)
        return cudaSuccess;
    do {
        last->all_windows = false;
        TRY(launch_again(cuda, last));
        TRY_CUDA(cudaMemcpyAsync(&best, launch->group ? launch->job.best : last->best, sizeof best, cudaMemcpyDeviceToHost, cuda->stream));
        TRY_CUDA(cudaStreamSynchronize(cuda->stream));
        last->all_windows = is_none(&best) || best.value == too_many.value;
    } while (last->all_windows && tries++ == 0 && learn_bits(cuda, &best));
    last->launch.tensor.may_leave_out = !last->all_windows;
    return cudaSuccess;
}

cudaError_t tm_replay(tm_cuda *cuda, int samples, int launches, double *ms)
{
    cuda->tensor_dirty = true; /* until all launches have ended well */
    TRY(try_to_leave_out(cuda, &cuda->last));
    for (int i = 0; i < samples; i++) {
        float elapsed;
        TRY_CUDA(cudaEventRecord(cuda->events[TM_EVENT_START], cuda->stream));
        for (int j = 0; j < launches; j++)
            TRY(launch_again(cuda, &cuda->last));
        TRY_CUDA(cudaEventRecord(cuda->events[TM_EVENT_MATCHED], cuda->stream));
        TRY_CUDA(cudaEventSynchronize(cuda->events[TM_EVENT_MATCHED]));
        TRY_CUDA(cudaEventElapsedTime(&elapsed, cuda->events[TM_EVENT_START],
                                      cuda->events[TM_EVENT_MATCHED]));
        ms[i] = (double)elapsed / launches;
    }
    cuda->tensor_dirty = false;
    return cudaSuccess;
}
