/* SPDX-License-Identifier: MIT */
#include "cuda/poses_large.cuh"

#include <stdlib.h>
#include <string.h>

#include "cuda/context.cuh"
#include "integers.h"

/* Bundles that are listed at most, of all windows together: scoring all is quicker than to look at more. */
enum { MOST_LISTED = 1 << 24 };

void tm_large_drop(tm_device_large *l)
{
    free(l->packed);
    l->packed = NULL;
    l->room = 0;
    l->width = 0;
    free(l->poses);
    l->poses = NULL;
    l->poses_room = 0;
    tm_buffer_free(&l->plane);
    tm_buffer_free(&l->picture);
    tm_buffer_free(&l->batch);
    tm_buffer_free(&l->taken);
    tm_buffer_free(&l->squares);
    tm_buffer_free(&l->cells);
    tm_buffer_free(&l->windows);
    tm_buffer_free(&l->passed);
    tm_buffer_free(&l->bundles);
}

/* Lays the frames of cells out, with zeros around them as far as windows and whole words reach. */
static cudaError_t place_cells(tm_cuda *cuda, const tm_large_look *look)
{
    tm_device_large *d = &cuda->large;
    tm_large_level *l = &d->level;
    int64_t left = 0, top = 0, right = 0, bottom = 0, windows = 0;

    l->frames = look->count;
    for (int i = 0; i < look->count; i++) {
        const tm_large_windows *w = &look->windows[i];
        tm_large_cells *c = &l->cells[i];
        *c = {(int)w->cells->x, (int)w->cells->y, (int)w->cells->width, (int)w->cells->height, NULL, NULL, 0,
              (int)w->x, (int)w->y, (int)w->width, (int)w->height, (unsigned)windows};
        left = larger(left, -w->x);
        top = larger(top, -w->y);
        right = larger(right, larger(c->width, w->x + round_up(w->width, TM_POSE_TILE_WIDTH) + l->steps * TM_POSE_STEP + TM_POSE_BEYOND));
        bottom = larger(bottom, larger(c->height, w->y + w->height + l->height + TM_LARGE_ROWS));
        windows += w->width * w->height;
    }
    l->windows = (unsigned)windows;
    l->pitch = (size_t)round_up(left + right, 16);
    l->rows = top + bottom;
    const size_t one = l->pitch * (size_t)l->rows, cells = one * (size_t)look->count, planes = 2 * cells;
    TRY(tm_buffer_fit(&d->cells, planes + cells * (sizeof *l->cell_squares + sizeof *l->cell_sums)));
    l->planes = (uint8_t *)d->cells.data;
    l->cell_squares = (unsigned long long *)((uint8_t *)d->cells.data + planes);
    l->cell_sums = (unsigned *)(l->cell_squares + cells);
    for (int i = 0; i < look->count; i++) {
        const int64_t first = top * (int64_t)l->pitch + left;
        l->cells[i].means = (uint8_t *)d->cells.data + 2 * (size_t)i * one + first;
        l->cells[i].rests = l->cells[i].means + one;
        l->cells[i].first_sum = i * (int64_t)one + first;
    }
    return TM_CALL(cudaMemsetAsync(d->cells.data, 0, planes, cuda->stream));
}

static cudaError_t place_windows(tm_device_large *d)
{
    tm_large_level *l = &d->level;
    const size_t rows = (size_t)(l->basis * TM_POSE_COLUMNS + 1);

    TRY(tm_buffer_fit(&d->windows, l->windows * (sizeof *l->energies + sizeof *l->sums + (rows + 2) * sizeof *l->p)));
    l->energies = (double *)d->windows.data;
    l->sums = (unsigned *)(l->energies + l->windows);
    l->p = (float *)(l->sums + l->windows);
    l->most = l->p + rows * l->windows;
    l->best = (int *)(l->most + l->windows);
    return tm_buffer_fit(&d->passed, sizeof(tm_large_state) + l->windows * sizeof(tm_large_passed));
}

/* Copies to the host's memory, which waits for kernels. */
static cudaError_t fetch(tm_cuda *cuda, void *to, const void *from, size_t size)
{
    cuda->bytes_out += (int64_t)size;
    return TM_CALL(cudaMemcpyAsync(to, from, size, cudaMemcpyDeviceToHost, cuda->stream));
}

static cudaError_t fetch_cells(tm_cuda *cuda, const tm_large_cells *from, const tm_cell_frame *to)
{
    const size_t width = (size_t)to->width, height = (size_t)to->height, pitch = cuda->large.level.pitch;

    cuda->bytes_out += (int64_t)(2 * width * height);
    TRY_CUDA(cudaMemcpy2DAsync(to->means, (size_t)to->pitch, from->means, pitch, width, height, cudaMemcpyDeviceToHost,
                               cuda->stream));
    return TM_CALL(cudaMemcpy2DAsync(to->rests, (size_t)to->pitch, from->rests, pitch, width, height,
                                     cudaMemcpyDeviceToHost, cuda->stream));
}

cudaError_t tm_cuda_look_at_large(tm_cuda *cuda, const tm_large_look *look)
{
    tm_device_large *d = &cuda->large;
    tm_large_level *l = &d->level;

    cuda->last = (tm_last){};
    cuda->bytes_in = cuda->bytes_out = 0;
    if (look->frame) {
        TRY(tm_large_bring_frame(cuda, look));
        TRY(tm_large_bring_template(cuda, look));
    }
    TRY(tm_large_bring_class(cuda, look->of));
    TRY(tm_large_bring_squares(cuda, look));
    TRY(place_cells(cuda, look));
    TRY(place_windows(d));
    TRY(tm_large_make_cells(l, d->corner, d->pitch, d->width, d->height, cuda->stream));
    if (l->windows)
        TRY(tm_large_bound(l, cuda->stream));
    for (int i = 0; i < look->count; i++)
        TRY(fetch_cells(cuda, &l->cells[i], look->windows[i].cells));
    const size_t first = (size_t)(look->windows->width * look->windows->height);
    if (first) {
        TRY(fetch(cuda, look->bounds, l->most, first * sizeof *l->most));
        TRY(fetch(cuda, look->bundles, l->best, first * sizeof *l->best));
    }
    return TM_CALL(cudaStreamSynchronize(cuda->stream));
}

/* Copies what passed in the windows that were found. */
static cudaError_t fill(tm_cuda *cuda, tm_large_list *list, const tm_large_passed *passed, const tm_large_state *found)
{
    tm_device_large *d = &cuda->large;

    list->windows = (tm_large_passed *)malloc(found->passed * sizeof *list->windows);
    list->bundles = (int32_t *)malloc(found->bundles * sizeof *list->bundles);
    list->bounds = (float *)malloc(found->bundles * sizeof *list->bounds);
    if (!list->windows || !list->bundles || !list->bounds)
        return cudaErrorMemoryAllocation;
    TRY(tm_buffer_fit(&d->bundles, found->bundles * (sizeof *list->bundles + sizeof *list->bounds)));
    int *bundles = (int *)d->bundles.data;
    float *bounds = (float *)(bundles + found->bundles);
    TRY(tm_large_fill(&d->level, passed, found->passed, bundles, bounds, cuda->stream));
    TRY(fetch(cuda, list->windows, passed, found->passed * sizeof *passed));
    TRY(fetch(cuda, list->bundles, bundles, found->bundles * sizeof *bundles));
    TRY(fetch(cuda, list->bounds, bounds, found->bundles * sizeof *bounds));
    TRY_CUDA(cudaStreamSynchronize(cuda->stream));
    list->count = found->passed;
    return cudaSuccess;
}

cudaError_t tm_cuda_list_large(tm_cuda *cuda, tm_large_list *list)
{
    tm_device_large *d = &cuda->large;
    const tm_large_asked least = {list->least, list->angle, list->core};
    tm_large_state *state = (tm_large_state *)d->passed.data, found;
    tm_large_passed *passed = (tm_large_passed *)(state + 1);

    cuda->bytes_in = cuda->bytes_out = 0;
    if (!d->level.windows)
        return cudaSuccess;
    TRY_CUDA(cudaMemsetAsync(state, 0, sizeof *state, cuda->stream));
    TRY(tm_large_find(&d->level, &least, state, passed, cuda->stream));
    TRY(fetch(cuda, &found, state, sizeof found));
    TRY_CUDA(cudaStreamSynchronize(cuda->stream));
    list->too_many = found.bundles > MOST_LISTED;
    return found.passed && !list->too_many ? fill(cuda, list, passed, &found) : cudaSuccess;
}

/* Writes what the kernel needs of the batch's poses. */
static void describe_poses(tm_large_picture *to, const tm_large_batch *b, int *width, int *height)
{
    unsigned first = 0;

    *width = *height = 0;
    for (size_t i = 0; i < b->count; i++) {
        const tm_large_pose *pose = &b->poses[i];
        to[i] = {tm_pose_steps_of(pose->turn), pose->width, pose->height, first, pose->count};
        first += pose->count;
        *width = max(*width, pose->width);
        *height = max(*height, pose->height);
    }
}

cudaError_t tm_cuda_sum_large(tm_cuda *cuda, const tm_large_batch *b)
{
    tm_device_large *d = &cuda->large;
    const size_t poses = b->count * sizeof *d->poses, sums = b->places_count * sizeof *b->sums,
                 places = b->places_count * sizeof *b->places;
    int width, height;

    cuda->bytes_in = cuda->bytes_out = 0;
    if (d->poses_room < b->count) {
        free(d->poses);
        d->poses = (tm_large_picture *)malloc(poses);
        d->poses_room = d->poses ? b->count : 0;
    }
    if (!d->poses)
        return cudaErrorMemoryAllocation;
    describe_poses(d->poses, b, &width, &height);
    TRY(tm_buffer_fit(&d->batch, poses + sums + places));
    tm_large_sums *to = (tm_large_sums *)d->batch.data;
    tm_large_picture *there = (tm_large_picture *)(to + b->places_count);
    tm_large_place *at = (tm_large_place *)(there + b->count);
    TRY_CUDA(cudaMemsetAsync(to, 0, sums, cuda->stream));
    cuda->bytes_in += (int64_t)(poses + places);
    TRY_CUDA(cudaMemcpyAsync(there, d->poses, poses, cudaMemcpyHostToDevice, cuda->stream));
    TRY_CUDA(cudaMemcpyAsync(at, b->places, places, cudaMemcpyHostToDevice, cuda->stream));
    TRY(tm_large_sum_places(&d->tmpl, there, b->count, width, height, at, d->corner, d->pitch, to, cuda->stream));
    TRY(fetch(cuda, b->sums, to, sums));
    return TM_CALL(cudaStreamSynchronize(cuda->stream));
}
