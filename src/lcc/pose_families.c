/* SPDX-License-Identifier: MIT */
#include "lcc/pose_families.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "integers.h"
#include "lcc/threads.h"

/* Bytes of posed pictures and their taps at most. */
#define MOST_BYTES (INT64_C(256) << 20)

/* Members are nearly made up by the basis where the root of their mean square rest is less. */
#define SMALL_REST 0.35

enum {
    LEAST_BASIS = 4, /* templates of a family at first, if it has few members, */
    FEW_MEMBERS = 64,
    BASIS = 16,      /* or of another one */
    COARSE_RADIUS = 5,  /* of the template in cells, about */
    COARSE_TURN = 9,    /* degrees from one coarse pose to the next, about */
    COARSE_RATIO = 8,   /* scales: so many percent */
    MOST_COARSE = 512,
};

/* What making them needs besides. */
typedef struct makings {
    const tm_image *image;
    const tm_poses *poses;
    size_t count;
    tm_posed *posed;
    int *keys;        /* -1: left out */
    tm_posed *sorted; /* those of a class */
    tm_status status;
} makings;

/* Scales that are less than this times the least one are in a band with it. */
#define BAND_RATIO 1.2

/* A core that has less of the variance says too little of the whole. */
#define LEAST_SHARE 0.4

/* Angles are in bands of so many degrees, the first of these with which cores are large enough. */
static const int band_degrees[] = {360, 30, 10};
enum { ANGLE_BANDS = sizeof band_degrees / sizeof *band_degrees, MOST_BANDS = 36 };

/* Poses of one key are in one class. */
static int key_of(const makings *m, size_t pose, int degrees)
{
    const tm_posed *p = &m->posed[pose];
    const tm_turn turn = tm_poses_turn(m->poses, (int64_t)pose);
    const double ratio = (double)turn.scale / (double)m->poses->scales.from;
    const int of_scale = (int)(log(ratio) / log(BAND_RATIO) + 1e-6);
    const int of_angle = (int)((turn.angle - m->poses->angles.from) / (degrees * TM_POSE_UNIT));
    return 4 * (MOST_BANDS * of_scale + of_angle) + (int)(p->width % 2 + 2 * (p->height % 2));
}

/* Makes the posed pictures, without those that are left out. */
static void make_posed(makings *m, int threads)
{
    const int team = tm_team_size((int)smaller(threads, (int64_t)m->count));
#pragma omp parallel for schedule(dynamic) num_threads(team) if (team > 1)
    for (size_t i = 0; i < m->count; i++) {
        tm_posed *p = &m->posed[i];
        const tm_status status =
            tm_pose_make(p, m->image, tm_poses_turn(m->poses, (int64_t)i), &m->poses->support);
        if (status != TM_OK) {
#pragma omp critical(tm_pose_families_status)
            m->status = status;
        } else if (tm_posed_is_flat(p)) {
            tm_posed_free(p);
        }
    }
}

static int64_t stride_of(const tm_posed *p)
{
    return round_up(p->width, TM_POSE_STRIDE);
}

/* Bytes of a member's taps and of what counts. */
static int64_t taps_size(const tm_posed *p)
{
    return 2 * stride_of(p) * p->height;
}

static tm_scorer scorer_of(const tm_posed *p)
{
    tm_template t = {.type = TM_SAMPLE_U8, .channels = 1, .count = p->count};
    for (int64_t i = 0; i < p->width * p->height; i++) { /* samples that do not count are 0 */
        t.sum += p->samples[i];
        t.sum_sq += p->samples[i] * p->samples[i];
    }
    t.channel_sums[0] = t.sum;
    return tm_scorer_make(&t, TM_METRIC_LCC);
}

static void make_member(tm_pose_member *member, const tm_posed *p, int64_t pose, int8_t *taps)
{
    const int64_t stride = stride_of(p);
    int8_t *counts = taps + stride * p->height;

    memset(taps, 0, (size_t)taps_size(p));
    for (int64_t y = 0; y < p->height; y++) {
        for (int64_t x = 0; x < p->width; x++) {
            const int64_t i = y * p->width + x;
            counts[y * stride + x] = (int8_t)p->mask[i];
            taps[y * stride + x] = (int8_t)(p->mask[i] ? p->samples[i] - 128 : 0);
        }
    }
    *member = (tm_pose_member){.pose = pose,
                               .width = (int)p->width,
                               .height = (int)p->height,
                               .stride = (ptrdiff_t)stride,
                               .taps = taps,
                               .counts = counts,
                               .pixels = p->count,
                               .scorer = scorer_of(p)};
}

/* The core's share of a posed picture's variance, from below. */
static double share_of(const tm_family *f, const tm_posed *p)
{
    const int64_t left = (p->width - f->width) / 2, top = (p->height - f->height) / 2;
    double sum = 0, square = 0, all = 0, all_sq = 0;

    for (int64_t i = 0; i < p->width * p->height; i++) {
        all += p->samples[i];
        all_sq += (double)p->samples[i] * p->samples[i];
    }
    for (int i = 0; i < f->run_count; i++) {
        const tm_family_run *r = &f->runs[i];
        for (int x = r->x; x < r->end; x++) {
            const double sample = p->samples[(top + r->y) * p->width + left + x];
            sum += sample;
            square += sample * sample;
        }
    }
    const double part = square - sum * sum / (double)f->pixels;
    return part / (all_sq - all * all / (double)p->count) * (1 - 1e-9);
}

/* Makes the coarse poses of a class that hold cells of the frame for pixels. */
static tm_status make_coarse(tm_pose_class *c, const makings *m, int cell)
{
    const tm_poses *poses = m->poses;
    const tm_pose_support all = {.disc = true, .distance = INT64_MAX};
    const int64_t turn = larger(1, poses->angles.step ? COARSE_TURN * TM_POSE_UNIT / poses->angles.step : 1);
    const int64_t ratio = larger(1, poses->scales.step
                                        ? poses->scales.from * COARSE_RATIO / 100 / poses->scales.step
                                        : 1);
    tm_posed *posed = calloc(MOST_COARSE, sizeof *posed);
    int64_t last_at = 0, last_scale = 0;
    size_t count = 0;
    tm_status status = TM_OK;

    c->poses = malloc(MOST_COARSE * sizeof *c->poses);
    if (!posed || !c->poses) {
        free(posed);
        return TM_ERR_MEMORY;
    }
    for (size_t i = 0; i < c->count && count < MOST_COARSE && status == TM_OK; i++) {
        const int64_t pose = c->members[i].pose;
        const int64_t at = pose % poses->angles.count / turn, scale = pose / poses->angles.count;
        if (count && scale == last_scale ? at == last_at : count && scale < last_scale + ratio)
            continue;
        tm_turn t = tm_poses_turn(poses, pose);
        t.scale = (2 * t.scale + cell) / (2 * cell);
        if (t.scale < TM_POSE_LEAST_SCALE)
            break;
        status = tm_pose_make(&posed[count], m->image, t, &all);
        if (status != TM_OK || tm_posed_is_flat(&posed[count])) {
            tm_posed_free(&posed[count]);
            continue;
        }
        c->poses[count++] = (int64_t)i;
        last_at = at;
        last_scale = scale;
    }
    if (status == TM_OK && count)
        status = tm_family_make(&c->coarse, posed, count, TM_FAMILY_BASIS / 2);
    for (size_t i = 0; i < count; i++)
        tm_posed_free(&posed[i]);
    free(posed);
    return status;
}

/* Makes the family of one class, whose pictures are count of posed. */
static tm_status make_class(tm_pose_class *c, const tm_posed *posed)
{
    int basis = c->count < FEW_MEMBERS ? LEAST_BASIS : BASIS;
    tm_status status = tm_family_make(&c->family, posed, c->count, basis);

    while (status == TM_OK && c->family.count && c->family.rest_rms > SMALL_REST &&
           c->family.basis == basis && basis < TM_FAMILY_BASIS) {
        basis *= 2;
        tm_family_free(&c->family);
        status = tm_family_make(&c->family, posed, c->count, basis);
    }
    if (status != TM_OK || !c->family.count)
        return status;
    c->whole = true;
    c->share = 1;
    for (size_t i = 0; i < c->count; i++) {
        c->whole = c->whole && posed[i].count == c->family.pixels;
        c->share = fmin(c->share, share_of(&c->family, &posed[i]));
    }
    return TM_OK;
}

/* Makes the class of the poses with this key. */
static tm_status fill_class(tm_pose_families *f, const makings *m, int key, int8_t **taps)
{
    tm_pose_class *c = &f->list[f->count++];
    size_t count = 0;

    for (size_t i = 0; i < m->count; i++)
        count += m->keys[i] == key;
    c->members = calloc(count, sizeof *c->members);
    if (!c->members)
        return TM_ERR_MEMORY;
    for (size_t i = 0; i < m->count; i++) {
        const tm_posed *p = &m->posed[i];
        if (m->keys[i] != key)
            continue;
        m->sorted[c->count] = *p;
        f->members[i] = &c->members[c->count];
        make_member(&c->members[c->count++], p, (int64_t)i, *taps);
        *taps += taps_size(p);
    }
    tm_status status = make_class(c, m->sorted);
    if (status == TM_OK && !c->family.count)
        f->fault = "its poses have too few pixels in common, or too many";
    else if (status == TM_OK && f->cell > 1)
        status = make_coarse(c, m, f->cell);
    return status;
}

static void free_classes(tm_pose_families *f)
{
    for (int k = 0; k < f->count; k++) {
        tm_family_free(&f->list[k].family);
        tm_family_free(&f->list[k].coarse);
        free(f->list[k].members);
        free(f->list[k].poses);
    }
    free(f->list);
    f->list = NULL;
    f->count = 0;
}

/* The least key above one; INT_MAX: there is none. */
static int next_key(const makings *m, int key)
{
    int next = INT_MAX;
    for (size_t i = 0; i < m->count; i++)
        next = m->keys[i] > key && m->keys[i] < next ? m->keys[i] : next;
    return next;
}

/* Makes all classes, with angles in bands. */
static tm_status fill(tm_pose_families *f, const makings *m, int degrees)
{
    int8_t *taps = f->taps;
    int classes = 0;
    tm_status status = TM_OK;

    free_classes(f);
    f->fault = NULL;
    for (size_t i = 0; i < m->count; i++)
        m->keys[i] = m->posed[i].count ? key_of(m, i, degrees) : -1;
    for (int key = next_key(m, -1); key != INT_MAX; key = next_key(m, key))
        classes++;
    f->list = calloc((size_t)classes, sizeof *f->list);
    if (!f->list)
        return TM_ERR_MEMORY;
    for (int key = next_key(m, -1); key != INT_MAX && status == TM_OK && !f->fault;
         key = next_key(m, key))
        status = fill_class(f, m, key, &taps);
    return status;
}

static bool has_large_cores(const tm_pose_families *f)
{
    for (int k = 0; k < f->count; k++) {
        if (f->list[k].share < LEAST_SHARE)
            return false;
    }
    return !f->fault;
}

static tm_status fill_in_bands(tm_pose_families *f, const makings *m)
{
    const int64_t range = (m->poses->angles.count - 1) * m->poses->angles.step;
    tm_status status = TM_OK;

    for (int i = 0; i < ANGLE_BANDS && status == TM_OK; i++) {
        if (i && (has_large_cores(f) || range < band_degrees[i] * TM_POSE_UNIT))
            continue;
        status = fill(f, m, band_degrees[i]);
    }
    return status;
}

static const char *fault_of(const makings *m, int64_t *bytes)
{
    *bytes = 0;
    for (size_t i = 0; i < m->count; i++) {
        const tm_posed *p = &m->posed[i];
        if (p->width * p->height > TM_POSE_PIXELS)
            return "the template is too large in a pose";
        *bytes += taps_size(p);
    }
    return *bytes > MOST_BYTES ? "its poses take too much memory" : NULL;
}

/* How many pixels a cell has in each direction: as many as leave a radius of about COARSE_RADIUS. */
static int cell_of(const makings *m)
{
    const int64_t side = smaller(m->image->width, m->image->height);
    const int64_t scale = tm_poses_turn(m->poses, 0).scale;
    const int64_t radius = side * scale / (2 * TM_POSE_UNIT);
    return (int)clamp(radius / COARSE_RADIUS, 1, 16);
}

tm_status tm_pose_families_make(tm_pose_families *families, const tm_image *image,
                                const tm_poses *poses, int threads)
{
    makings m = {.image = image, .poses = poses, .count = (size_t)tm_poses_count(poses)};
    tm_pose_families f = {.poses = *poses};
    int64_t bytes = 0;

    *families = f;
    /* the pictures alone may take as much as is allowed */
    if ((double)m.count * (double)image->width * (double)image->height > (double)MOST_BYTES) {
        families->fault = "its poses take too much memory";
        return TM_OK;
    }
    m.posed = calloc(m.count, sizeof *m.posed);
    m.sorted = calloc(m.count, sizeof *m.sorted);
    m.keys = malloc(m.count * sizeof *m.keys);
    f.members = calloc(m.count, sizeof *f.members);
    m.status = m.posed && m.sorted && m.keys && f.members ? TM_OK : TM_ERR_MEMORY;
    if (m.status == TM_OK)
        make_posed(&m, threads);
    if (m.status == TM_OK) {
        f.fault = fault_of(&m, &bytes);
        f.cell = cell_of(&m);
        f.taps = f.fault ? NULL : malloc((size_t)bytes + TM_POSE_STRIDE);
        m.status = f.taps || f.fault ? TM_OK : TM_ERR_MEMORY;
    }
    if (m.status == TM_OK && !f.fault)
        m.status = fill_in_bands(&f, &m);
    for (size_t i = 0; m.posed && i < m.count; i++)
        tm_posed_free(&m.posed[i]);
    free(m.posed);
    free(m.sorted);
    free(m.keys);
    *families = f;
    if (m.status != TM_OK)
        tm_pose_families_free(families);
    return m.status;
}

void tm_pose_families_free(tm_pose_families *f)
{
    free_classes(f);
    free(f->members);
    free(f->taps);
    *f = (tm_pose_families){0};
}
