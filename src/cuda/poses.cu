/* SPDX-License-Identifier: MIT */
#include "cuda/poses.cuh"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/context.cuh"
#include "cuda/poses_pack.cuh"
#include "integers.h"

/* Pairs that are listed at most, and windows and pairs that always may be. */
enum { MOST_LISTED = 1 << 22, ALWAYS = 4096 };

/* Nanoseconds to score a pair by itself, and for each of its pixels; to look at a window's members, each of which is a
 * sum for each basis template, and for each pixel's product with one of these. On an H200. */
#define PAIR_NS 0.18
#define PAIR_PIXEL_NS 9e-5
#define LOOK_NS 1.0
#define LOOK_MEMBER_NS 1e-4
#define LOOK_PIXEL_NS 1e-4

/* Guesses by which a floor is set, at most. */
enum { MOST_GUESSES = 256 };

/* Sides of a frame at most: tm_pose_place. */
#define MOST_SIDE ((int64_t)1 << 18)

void tm_poses_drop(tm_device_poses *p)
{
    tm_poses_unpack(p);
    tm_buffer_free(&p->placed);
    tm_buffer_free(&p->plane);
    tm_buffer_free(&p->sums);
    tm_buffer_free(&p->bounds);
    tm_buffer_free(&p->lists);
}

/* What of the frame, and of the zeros around it, pictures can lie on. */
typedef struct extent {
    int64_t left, top, right, bottom;
} extent;

/* Sets where pictures may lie, and of which windows of the classes that makes. False where nothing has a
 * position. */
static bool place_pictures(tm_device_poses *p, const tm_pose_search *search, extent *e)
{
    const tm_pose_families *f = search->families;

    *e = (extent){INT64_MAX, INT64_MAX, INT64_MIN, INT64_MIN};
    for (int k = 0; k < f->count; k++) {
        const tm_pose_class *c = &f->list[k];
        for (size_t i = 0; i < c->count; i++) {
            tm_pose_picture *picture = &p->pictures[p->levels[k].first + i];
            tm_geometry g;
            picture->x = picture->y = picture->end_x = picture->end_y = 0;
            if (!tm_pose_positions(search, &c->members[i], &g))
                continue;
            picture->x = (int)-g.pad_x;
            picture->y = (int)-g.pad_y;
            picture->end_x = (int)(g.map_width - g.pad_x);
            picture->end_y = (int)(g.map_height - g.pad_y);
            e->left = smaller(e->left, picture->x);
            e->top = smaller(e->top, picture->y);
            e->right = larger(e->right, picture->end_x + picture->width - 1);
            e->bottom = larger(e->bottom, picture->end_y + picture->height - 1);
        }
    }
    return e->right > e->left;
}

/* The classes' windows and the memory for their bounds, from which *bytes becomes how much that is; tops come
 * after the bounds. */
static bool place_windows(tm_device_poses *p, const tm_pose_search *search, size_t *bytes)
{
    int64_t windows = 0;
    int tiles = 0;

    *bytes = 0;
    for (int k = 0; k < p->classes; k++) {
        tm_pose_level *l = &p->levels[k];
        int64_t x, y, across, down;
        tm_pose_windows(search, &search->families->list[k], &x, &y, &across, &down);
        l->across = (int)across;
        l->down = (int)down;
        l->x = across ? (int)x : 0;
        l->y = down ? (int)y : 0;
        l->first_window = (unsigned)windows;
        l->tiles_across = (int)ceil_div(across, TM_POSE_TILE_WIDTH);
        l->tiles = l->tiles_across * (int)ceil_div(down, TM_POSE_TILE_HEIGHT);
        l->first_tile = tiles;
        tiles += l->tiles;
        windows += across * down;
        *bytes += (size_t)(across * down) * sizeof *l->most + (size_t)l->tiles * sizeof *l->tops;
    }
    return windows <= INT32_MAX;
}

static void place_bounds(tm_device_poses *p)
{
    uint8_t *at = (uint8_t *)p->bounds.data;
    for (int k = 0; k < p->classes; k++) {
        tm_pose_level *l = &p->levels[k];
        l->most = (float *)at;
        l->tops = (uint32_t *)(l->most + (int64_t)l->across * l->down);
        at = (uint8_t *)(l->tops + l->tiles);
    }
}

/* Brings the frame, in the middle of zeros, to the device, and sums its rows there. */
static cudaError_t bring_frame(tm_cuda *cuda, const tm_pose_search *search, const extent *e, tm_pose_job *job)
{
    tm_device_poses *p = &cuda->poses;
    const tm_image *frame = search->frame;
    const int64_t left = larger(0, -e->left), top = larger(0, -e->top),
                  columns = left + larger(e->right, frame->width) + TM_POSE_SLACK,
                  rows = top + larger(e->bottom, frame->height) + TM_POSE_SLACK_ROWS;

    job->pitch = (size_t)round_up(columns, 128);
    const size_t bytes = job->pitch * (size_t)rows;
    TRY(tm_buffer_fit(&p->plane, bytes));
    TRY(tm_buffer_fit(&p->sums, bytes * sizeof *job->sums));
    uint8_t *plane = (uint8_t *)p->plane.data, *corner = plane + top * (int64_t)job->pitch + left;
    job->frame = corner;
    job->sums = (uint2 *)p->sums.data + (corner - plane);
    TRY_CUDA(cudaMemsetAsync(plane, 0, bytes, cuda->in));
    TRY(tm_upload(cuda, corner, job->pitch, frame->samples, frame->stride, (size_t)frame->width, frame->height));
    TRY(tm_await_upload(cuda));
    return tm_poses_sum_rows(plane, job->pitch, rows, (uint2 *)p->sums.data, cuda->stream);
}

/* So many windows may be looked at, and pairs listed, as take half as long as to score all, which is done after more. */
static void limit(const tm_device_poses *p, const tm_pose_search *search, tm_pose_job *job)
{
    double pair = 0, look = 0;

    for (int k = 0; k < p->classes; k++) {
        const tm_pose_level *l = &p->levels[k];
        const double pixels = l->pixels, basis = l->basis * TM_POSE_COLUMNS;
        pair = fmax(pair, PAIR_NS + PAIR_PIXEL_NS * pixels);
        look = fmax(look, LOOK_NS + basis * (LOOK_MEMBER_NS * l->count + LOOK_PIXEL_NS * pixels));
    }
    job->most_listed = (unsigned)fmin(MOST_LISTED, ALWAYS + search->exhaustive_ns / 2 / pair);
    job->most_looked = (unsigned)fmin(INT_MAX, ALWAYS + search->exhaustive_ns / 2 / look);
}

/* The lists behind the state, which is zero. */
static cudaError_t make_lists(tm_cuda *cuda, const tm_pose_search *search, tm_pose_job *job)
{
    const bool best_alone = search->floor == INT64_MAX;

    job->floor = best_alone ? INT_MAX : (int)larger(search->floor, INT_MIN);
    limit(&cuda->poses, search, job);
    job->most_found = best_alone ? 0 : (unsigned)smaller(job->most_listed, (int64_t)search->most);
    const tm_pose_level *last = &cuda->poses.levels[cuda->poses.classes - 1];
    const size_t guesses = search->wanted ? (size_t)(last->first_tile + last->tiles) : 0;
    TRY(tm_buffer_fit(&cuda->poses.lists, sizeof *job->state + ((size_t)job->most_listed + job->most_found + guesses) *
                                                                   sizeof *job->list));
    job->state = (tm_pose_state *)cuda->poses.lists.data;
    job->list = (tm_pose_pair *)(job->state + 1);
    job->found = job->list + job->most_listed;
    job->guesses = guesses ? job->found + job->most_found : NULL;
    return TM_CALL(cudaMemsetAsync(job->state, 0, sizeof *job->state, cuda->stream));
}

/* Up to the first best. */
static cudaError_t launch_guess(tm_cuda *cuda, const tm_pose_job *job)
{
    const tm_device_poses *p = &cuda->poses;

    for (int k = 0; k < p->classes; k++) {
        if (p->levels[k].tiles)
            TRY(tm_poses_bound(job, &p->levels[k], cuda->stream));
    }
    for (int k = 0; k < p->classes; k++) {
        if (p->levels[k].tiles)
            TRY(tm_poses_guess(job, &p->levels[k], cuda->stream));
    }
    for (int k = 0; k < 2 * p->classes; k++) {
        if (p->levels[k % p->classes].tiles)
            TRY(tm_poses_climb(job, &p->levels[k % p->classes], cuda->stream));
    }
    return cudaSuccess;
}

static cudaError_t launch_rest(tm_cuda *cuda, const tm_pose_job *job)
{
    const tm_device_poses *p = &cuda->poses;

    for (int k = 0; k < p->classes; k++) {
        if (p->levels[k].tiles)
            TRY(tm_poses_list(job, &p->levels[k], p->shares[k], cuda->stream));
    }
    return tm_poses_score(job, cuda->traits.multiprocessors, cuda->stream);
}

static tm_pose_peak peak_at(unsigned long long place, int value)
{
    return (tm_pose_peak){value, (int64_t)(place >> 44) - (1 << 16), (int64_t)(place >> 24 & 0xfffff) - (1 << 16),
                          (size_t)(place & 0xffffff)};
}

static tm_pose_peak peak_of(const tm_device_poses *poses, const tm_pose_pair *pair)
{
    const tm_pose_picture *p = &poses->pictures[pair->picture];
    return peak_at(tm_pose_place(pair->x, pair->y, p->width, p->height, p->pose), pair->value);
}

/* The best guesses of which none is near another one, the best first. */
static int choose_guesses(const tm_device_poses *p, const tm_pose_pair *pairs, int tiles, tm_pose_peak *chosen, int most)
{
    tm_pose_peak *peaks = (tm_pose_peak *)malloc((size_t)tiles * sizeof *peaks);
    const int64_t near = smaller(p->levels->width, p->levels->height);
    int count = 0, kept = 0;

    if (!peaks)
        return -1;
    for (int i = 0; i < tiles; i++) {
        if (pairs[i].value != INT_MIN)
            peaks[count++] = peak_of(p, &pairs[i]);
    }
    qsort(peaks, (size_t)count, sizeof *peaks, tm_pose_peak_by_rank);
    for (int i = 0; i < count && kept < most; i++) {
        bool apart = true;
        for (int k = 0; k < kept; k++)
            apart = apart && (llabs(chosen[k].x - peaks[i].x) >= near || llabs(chosen[k].y - peaks[i].y) >= near);
        if (apart)
            chosen[kept++] = peaks[i];
    }
    free(peaks);
    return kept;
}

/* Sets the floor by the guesses, of which so many are wanted, and for margins a rival; declines where there are none. */
static cudaError_t choose_floor(tm_cuda *cuda, tm_pose_search *search, tm_pose_job *job)
{
    tm_pose_peak chosen[MOST_GUESSES + 1];
    const int tiles = (int)(cuda->poses.levels[cuda->poses.classes - 1].first_tile +
                            cuda->poses.levels[cuda->poses.classes - 1].tiles);
    const int most = (int)smaller((int64_t)search->wanted, MOST_GUESSES) + (search->ratio > 0);
    tm_pose_pair *pairs = (tm_pose_pair *)malloc((size_t)tiles * sizeof *pairs);
    cudaError_t error = pairs ? cudaSuccess : cudaErrorMemoryAllocation;

    if (error == cudaSuccess)
        error = TM_CALL(cudaMemcpyAsync(pairs, job->guesses, (size_t)tiles * sizeof *pairs, cudaMemcpyDeviceToHost,
                                        cuda->stream));
    if (error == cudaSuccess)
        error = TM_CALL(cudaStreamSynchronize(cuda->stream));
    const int count = error == cudaSuccess ? choose_guesses(&cuda->poses, pairs, tiles, chosen, most) : 0;
    free(pairs);
    if (error != cudaSuccess || count < 0)
        return error != cudaSuccess ? error : cudaErrorMemoryAllocation;
    search->declined = count == 0;
    if (count)
        tm_pose_raise_floor(search, chosen, (size_t)count);
    job->floor = (int)larger(search->floor, INT_MIN);
    return cudaSuccess;
}

/* Copies the pairs that reach the floor, as the search's items. */
static cudaError_t fetch_items(tm_cuda *cuda, tm_pose_search *search, const tm_pose_job *job, size_t count)
{
    tm_pose_pair *pairs = (tm_pose_pair *)malloc(count * sizeof *pairs);
    search->items = (tm_pose_peak *)malloc(count * sizeof *search->items);
    cudaError_t error = pairs && search->items ? cudaSuccess : cudaErrorMemoryAllocation;

    if (error == cudaSuccess)
        error = TM_CALL(cudaMemcpyAsync(pairs, job->found, count * sizeof *pairs, cudaMemcpyDeviceToHost, cuda->out));
    if (error == cudaSuccess)
        error = TM_CALL(cudaStreamSynchronize(cuda->out));
    for (size_t i = 0; i < count && error == cudaSuccess; i++)
        search->items[i] = peak_of(&cuda->poses, &pairs[i]);
    search->count = error == cudaSuccess ? count : 0;
    cuda->bytes_out += (int64_t)(count * sizeof *pairs);
    free(pairs);
    return error;
}

/* Reads what was found when all is done. */
static cudaError_t finish(tm_cuda *cuda, tm_pose_search *search, const tm_pose_job *job)
{
    tm_pose_state state;

    TRY(tm_note_matched(cuda));
    TRY_CUDA(cudaStreamWaitEvent(cuda->out, cuda->events[TM_EVENT_MATCHED], 0));
    TRY_CUDA(cudaMemcpyAsync(&state, job->state, sizeof state, cudaMemcpyDeviceToHost, cuda->out));
    TRY_CUDA(cudaEventRecord(cuda->events[TM_EVENT_DONE], cuda->out));
    TRY_CUDA(cudaStreamSynchronize(cuda->out));
    cuda->bytes_out += (int64_t)sizeof state;
    search->scored = state.scored;
    search->declined = state.looked > job->most_looked || state.listed > job->most_listed || state.found > job->most_found ||
                       !state.first;
    if (search->declined)
        return cudaSuccess;
    search->best = peak_at(~state.first, tm_pose_best_of(state.best));
    return state.found ? fetch_items(cuda, search, job, state.found) : cudaSuccess;
}

static cudaError_t bring_pictures(tm_cuda *cuda, tm_pose_job *job)
{
    tm_device_poses *p = &cuda->poses;
    const size_t bytes = p->count * sizeof *p->pictures;

    TRY(tm_buffer_fit(&p->placed, bytes));
    job->pictures = (const tm_pose_picture *)p->placed.data;
    return TM_CALL(cudaMemcpyAsync(p->placed.data, p->pictures, bytes, cudaMemcpyHostToDevice, cuda->stream));
}

cudaError_t tm_poses_run(tm_cuda *cuda, tm_pose_search *search)
{
    tm_device_poses *p = &cuda->poses;
    const tm_image *frame = search->frame;
    tm_pose_job job = {};
    size_t bounds;
    extent e;

    cuda->last = (tm_last){};
    cuda->bytes_in = cuda->bytes_out = 0;
    search->pairs = 0;
    for (int k = 0; k < search->families->count; k++)
        search->pairs += tm_pose_count_pairs(search, &search->families->list[k]);
    search->declined = frame->width > MOST_SIDE || frame->height > MOST_SIDE ||
                       (search->floor <= 0 && !search->wanted);
    if (search->declined || !search->pairs)
        return cudaSuccess;
    TRY_CUDA(cudaEventRecord(cuda->events[TM_EVENT_START], cuda->in));
    TRY(tm_poses_pack(cuda, search));
    search->declined = !place_pictures(p, search, &e) || !place_windows(p, search, &bounds);
    if (search->declined)
        return cudaSuccess;
    TRY(tm_buffer_fit(&p->bounds, bounds));
    place_bounds(p);
    TRY(bring_pictures(cuda, &job));
    TRY(make_lists(cuda, search, &job));
    TRY(bring_frame(cuda, search, &e, &job));
    TRY(launch_guess(cuda, &job));
    if (search->wanted)
        TRY(choose_floor(cuda, search, &job));
    if (search->declined || search->floor <= 0) {
        search->declined = true;
        return cudaSuccess;
    }
    TRY(launch_rest(cuda, &job));
    return finish(cuda, search, &job);
}
