/* SPDX-License-Identifier: MIT */
#include "cuda/poses_pack.cuh"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/context.cuh"
#include "integers.h"

void tm_poses_unpack(tm_device_poses *p)
{
    tm_device_free(p->memory);
    free(p->levels);
    free(p->shares);
    free(p->pictures);
    free(p->samples);
    p->memory = NULL;
    p->levels = NULL;
    p->shares = NULL;
    p->pictures = NULL;
    p->samples = NULL;
    p->classes = 0;
    p->count = 0;
}

static bool is_axis(const tm_pose_axis *a, const tm_pose_axis *b)
{
    return a->from == b->from && a->step == b->step && a->count == b->count;
}

static bool is_of(const tm_device_poses *p, const tm_pose_search *search)
{
    const tm_poses *poses = &search->families->poses;
    const tm_image *image = search->image;
    const size_t pixels = (size_t)(image->width * image->height);

    return p->samples && is_axis(&p->poses.angles, &poses->angles) && is_axis(&p->poses.scales, &poses->scales) &&
           p->poses.support.disc == poses->support.disc && p->poses.support.distance == poses->support.distance &&
           p->width == image->width && p->height == image->height && p->masked == (image->mask != NULL) &&
           p->narrow == search->narrow &&
           memcmp(p->samples, image->samples, pixels) == 0 &&
           (!p->masked || memcmp(p->samples + pixels, image->mask, pixels) == 0);
}

/* Memory of the device and what is to be copied there. At first, without any, the size is found. */
typedef struct packer {
    uint8_t *host;
    const uint8_t *device;
    size_t used;
} packer;

/* The next count elements, or NULL at first. */
template <class T>
static T *take(packer *p, int64_t count, const T **there)
{
    const size_t at = p->used;
    p->used += (size_t)round_up(count * (int64_t)sizeof(T), 64);
    if (!p->host)
        return NULL;
    *there = (const T *)(p->device + at);
    return (T *)(p->host + at);
}

/* A tap of a basis template; 0 where there is none. */
static uint8_t tap_of(const tm_family *f, int template_, int row, int column)
{
    if (template_ >= f->basis || column >= f->width)
        return 0;
    return (uint8_t)(f->samples[((int64_t)template_ * f->height + row) * f->width + column] - 128);
}

void tm_poses_pack_fragments(uint2 *to, const tm_family *f, int basis, int steps)
{
    const int64_t count = (int64_t)f->height * steps * basis * 32;

    for (int64_t i = 0; i < count; i++) {
        const int lane = (int)(i % 32), column = (int)(i / 32 / basis % steps) * TM_POSE_STEP + lane % 4 * 4;
        const int row = (int)(i / 32 / basis / steps), n = (int)(i / 32 % basis) * TM_POSE_COLUMNS + lane / 4;
        uint8_t *bytes = (uint8_t *)&to[i];
        for (int k = 0; k < 8; k++)
            bytes[k] = tap_of(f, n, row, column + k % 4 + k / 4 * 16);
    }
}

static void pack_fragments(packer *p, tm_pose_level *l, const tm_family *f)
{
    uint2 *to = take(p, (int64_t)l->height * l->steps * l->basis * 32, &l->fragments);
    if (to)
        tm_poses_pack_fragments(to, f, l->basis, l->steps);
}

static void pack_words(packer *p, tm_pose_level *l, const tm_family *f)
{
    const int64_t words = (int64_t)l->row_words * l->height, basis = l->basis * TM_POSE_COLUMNS;
    uint32_t *to = take(p, words * (1 + basis), &l->words);

    if (!to)
        return;
    for (int i = 0; i < f->run_count; i++)
        memset((uint8_t *)to + f->runs[i].y * l->row_words * 4 + f->runs[i].x, 255,
               (size_t)(f->runs[i].end - f->runs[i].x));
    for (int64_t row = 0; row < (int64_t)f->basis * f->height; row++)
        memcpy(to + words + row * l->row_words, f->samples + row * f->width, (size_t)f->width);
}

static void pack_numbers(packer *p, tm_pose_level *l, const tm_family *f)
{
    const int basis = l->basis * TM_POSE_COLUMNS;
    float *solve = take(p, basis * basis, &l->solve), *radius = take(p, basis / 2, &l->radius);
    float *coordinates = take(p, (int64_t)(basis + 1) * l->padded, &l->coordinates);
    tm_family_run *runs = take(p, f->run_count, &l->runs);
    const size_t row = (size_t)l->padded * sizeof *coordinates;

    if (!solve)
        return;
    for (int k = 0; k < f->basis; k++)
        memcpy(solve + k * basis, f->solve[k], (size_t)f->basis * sizeof *solve);
    memcpy(radius, f->radius, (size_t)(f->basis / 2) * sizeof *radius);
    memcpy(coordinates, f->coordinates, (size_t)f->basis * row);
    memcpy(coordinates + (int64_t)basis * l->padded, f->coordinates + (int64_t)f->basis * l->padded, row);
    memcpy(runs, f->runs, (size_t)f->run_count * sizeof *runs);
}

static void pack_picture(packer *p, tm_pose_picture *picture, const tm_pose_class *c, const tm_pose_member *m)
{
    const tm_scorer *s = &m->scorer;

    *picture = (tm_pose_picture){};
    picture->width = m->width;
    picture->height = m->height;
    picture->row_words = (m->width + 3) / 4;
    picture->left = (m->width - c->family.width) / 2;
    picture->top = (m->height - c->family.height) / 2;
    picture->pose = (unsigned)m->pose;
    picture->pixels = (unsigned)s->n;
    picture->sum = (unsigned)s->s_t[0];
    picture->variance = (float)(s->n * s->s_tt - s->s_t[0] * s->s_t[0]);
    picture->error = c->family.error;
    picture->share = c->whole ? 1 : c->share;
    const int64_t words = (int64_t)picture->row_words * m->height, row = picture->row_words * 4;
    uint8_t *taps = (uint8_t *)take(p, words, &picture->taps), *counts = (uint8_t *)take(p, words, &picture->counts);
    for (int64_t i = 0; taps && i < (int64_t)m->width * m->height; i++) {
        const int64_t x = i % m->width, y = i / m->width, from = y * m->stride + x;
        counts[y * row + x] = m->counts[from] ? 255 : 0;
        taps[y * row + x] = m->counts[from] ? (uint8_t)(m->taps[from] + 128) : 0;
    }
}

static void pack_class(packer *p, tm_pose_level *l, const tm_pose_class *c)
{
    const tm_family *f = &c->family;

    l->basis = (f->basis + TM_POSE_COLUMNS - 1) / TM_POSE_COLUMNS;
    l->width = f->width;
    l->height = f->height;
    l->row_words = (f->width + 3) / 4;
    l->steps = (int)ceil_div(f->width, TM_POSE_STEP);
    l->run_count = f->run_count;
    l->count = f->count;
    l->padded = f->padded;
    l->pixels = (unsigned)f->pixels;
    l->rest = f->rest;
    l->error = f->error;
    l->root = (float)sqrt((double)f->pixels);
    pack_fragments(p, l, f);
    pack_words(p, l, f);
    pack_numbers(p, l, f);
}

static void pack_all(packer *p, tm_device_poses *poses, const tm_pose_families *f)
{
    unsigned first = 0;

    for (int k = 0; k < f->count; k++) {
        const tm_pose_class *c = &f->list[k];
        poses->levels[k].first = first;
        poses->shares[k] = c->whole ? 1 : c->share;
        pack_class(p, &poses->levels[k], c);
        for (size_t i = 0; i < c->count; i++)
            pack_picture(p, &poses->pictures[first + i], c, &c->members[i]);
        first += (unsigned)c->count;
    }
}

static bool keep_key(tm_device_poses *p, const tm_pose_search *search)
{
    const tm_image *image = search->image;
    const size_t pixels = (size_t)(image->width * image->height);

    p->samples = (uint8_t *)malloc(2 * pixels);
    if (!p->samples)
        return false;
    p->poses = search->families->poses;
    p->width = image->width;
    p->height = image->height;
    p->masked = image->mask != NULL;
    p->narrow = search->narrow;
    memcpy(p->samples, image->samples, pixels);
    if (p->masked)
        memcpy(p->samples + pixels, image->mask, pixels);
    return true;
}

static cudaError_t pack(tm_cuda *cuda, const tm_pose_families *f)
{
    tm_device_poses *p = &cuda->poses;
    packer size = {};

    for (int k = 0; k < f->count; k++)
        p->count += f->list[k].count;
    p->classes = f->count;
    p->levels = (tm_pose_level *)calloc((size_t)f->count, sizeof *p->levels);
    p->shares = (double *)calloc((size_t)f->count, sizeof *p->shares);
    p->pictures = (tm_pose_picture *)calloc(p->count, sizeof *p->pictures);
    if (!p->levels || !p->shares || !p->pictures)
        return cudaErrorMemoryAllocation;
    pack_all(&size, p, f);
    TRY(tm_device_malloc(&p->memory, size.used));
    packer all = {(uint8_t *)calloc(size.used, 1), (const uint8_t *)p->memory, 0};
    if (!all.host)
        return cudaErrorMemoryAllocation;
    pack_all(&all, p, f);
    cudaError_t error = TM_CALL(cudaMemcpyAsync(p->memory, all.host, all.used, cudaMemcpyHostToDevice, cuda->stream));
    if (error == cudaSuccess)
        error = TM_CALL(cudaStreamSynchronize(cuda->stream));
    free(all.host);
    return error;
}

cudaError_t tm_poses_pack(tm_cuda *cuda, const tm_pose_search *search)
{
    tm_device_poses *p = &cuda->poses;

    if (is_of(p, search))
        return cudaSuccess;
    tm_poses_unpack(p);
    cudaError_t error = pack(cuda, search->families);
    if (error == cudaSuccess && !keep_key(p, search))
        error = cudaErrorMemoryAllocation;
    if (error != cudaSuccess)
        tm_poses_unpack(p);
    return error;
}
