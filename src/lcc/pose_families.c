/* SPDX-License-Identifier: MIT */
#include "lcc/pose_families.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "integers.h"
#include "lcc/pose_cells.h"
#include "lcc/pose_coarse.h"
#include "lcc/pose_large.h"
#include "lcc/threads.h"

/* Bytes of posed pictures and their taps at most. */
#define MOST_BYTES (INT64_C(256) << 20)
#define TOO_LARGE "the template is too large in a pose; not so for a pyramid, if it is asked for"
#define TOO_MANY "its poses take too much memory; not so for a pyramid, if it is asked for"

/* Members are nearly made up by the basis where the root of their mean square rest is less. */
#define SMALL_REST 0.35

enum {
    LEAST_BASIS = 4, /* templates of a family at first, if it has few members, */
    FEW_MEMBERS = 64,
    FEW_IN_BAND = 128, /* likewise, whose angles differ little */
    BASIS = 16,      /* or of another one */
};

/* What making them needs besides. */
typedef struct makings {
    const tm_image *image;
    const tm_poses *poses;
    size_t count;
    tm_posed *posed;
    int *keys;        /* -1: left out */
    tm_posed *sorted; /* those of a class */
    bool half_turns;  /* classes have each pose turned by half a turn, too, nearly */
    tm_status status;
} makings;

/* Scales that are less than this times the least one are in a band with it. */
#define BAND_RATIO 1.2

/* A core that has less of the variance says too little of the whole, and so many members that a step sets apart are
 * not sums of few templates; but where families have all angles because narrower ones were not asked for, the
 * first is borne with. Of few pixels, many members are quicker looked at together. */
#define LEAST_SHARE 0.75
#define BEARABLE_SHARE 0.4
enum { MOST_TOGETHER = 320, FEW_PIXELS = 1500 };

/* Angles of narrow families are in bands of so many degrees, the first of these with which families have enough in
 * common. */
static const int band_degrees[] = {360, 30, 10};
enum { ANGLE_BANDS = sizeof band_degrees / sizeof *band_degrees, MOST_BANDS = 36, PARITIES = 4 };

/* Half a turn from a pose there is one to within half a step, which is to be this at most. */
#define MOST_STEP (10 * TM_POSE_UNIT)

static int band_of_scale(const tm_poses *poses, int64_t scale)
{
    return (int)(log((double)scale / (double)poses->scales.from) / log(BAND_RATIO) + 1e-6);
}

/* Poses of one key are in one class. */
static int key_of(const makings *m, size_t pose, int degrees)
{
    const tm_posed *p = &m->posed[pose];
    const tm_turn turn = tm_poses_turn(m->poses, (int64_t)pose);
    const int of_scale = band_of_scale(m->poses, turn.scale);
    const int of_angle = (int)((turn.angle - m->poses->angles.from) / (degrees * TM_POSE_UNIT));
    return PARITIES * (MOST_BANDS * of_scale + of_angle) + (int)(p->width % 2 + 2 * (p->height % 2));
}

int64_t tm_pose_families_expect(const tm_poses *poses)
{
    const int64_t last = poses->scales.from + (poses->scales.count - 1) * poses->scales.step;
    return smaller(tm_poses_count(poses), PARITIES * (int64_t)(1 + band_of_scale(poses, last)));
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
#pragma omp atomic write
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

int64_t tm_pose_taps_size(const tm_posed *p)
{
    return 2 * stride_of(p) * p->height;
}

tm_scorer tm_pose_scorer_of(const tm_posed *p)
{
    tm_template t = {.type = TM_SAMPLE_U8, .channels = 1, .count = p->count};
    for (int64_t i = 0; i < p->width * p->height; i++) { /* samples that do not count are 0 */
        t.sum += p->samples[i];
        t.sum_sq += p->samples[i] * p->samples[i];
    }
    t.channel_sums[0] = t.sum;
    return tm_scorer_make(&t, TM_METRIC_LCC);
}

void tm_pose_member_fill(tm_pose_member *member, const tm_posed *p, int8_t *taps)
{
    const int64_t stride = stride_of(p);
    int8_t *counts = taps + stride * p->height;

    memset(taps, 0, (size_t)tm_pose_taps_size(p));
    for (int64_t y = 0; y < p->height; y++) {
        for (int64_t x = 0; x < p->width; x++) {
            const int64_t i = y * p->width + x;
            const bool one = !p->mask || p->mask[i];
            counts[y * stride + x] = (int8_t)one;
            taps[y * stride + x] = (int8_t)(one ? p->samples[i] - 128 : 0);
        }
    }
    *member = (tm_pose_member){.width = (int)p->width,
                               .height = (int)p->height,
                               .stride = (ptrdiff_t)stride,
                               .taps = taps,
                               .counts = counts};
}

void tm_pose_member_make(tm_pose_member *member, const tm_posed *p, int64_t pose, int8_t *taps)
{
    tm_pose_member_fill(member, p, taps);
    member->pose = pose;
    member->pixels = p->count;
    member->scorer = tm_pose_scorer_of(p);
}

/* The pictures of a class. */
static const tm_posed *pictures_of(const makings *m, const tm_pose_class *c)
{
    for (size_t i = 0; i < c->count; i++)
        m->sorted[i] = m->posed[c->members[i].pose];
    return m->sorted;
}

/* Begins the class of the poses with this key: with its members' numbers and its core. */
static tm_status begin_class(tm_pose_class *c, const makings *m, int key)
{
    size_t count = 0;

    for (size_t i = 0; i < m->count; i++)
        count += m->keys[i] == key;
    c->members = calloc(count, sizeof *c->members);
    if (!c->members)
        return TM_ERR_MEMORY;
    for (size_t i = 0; i < m->count; i++) {
        if (m->keys[i] == key)
            c->members[c->count++].pose = (int64_t)i;
    }
    const tm_posed *posed = pictures_of(m, c);
    const tm_status status = tm_family_begin(&c->family, posed, c->count);
    c->family.half_turns = m->half_turns;
    c->whole = c->family.count > 0;
    c->share = c->family.count ? 1 : 0;
    for (size_t i = 0; i < c->count && c->family.count; i++) {
        c->whole = c->whole && posed[i].count == c->family.pixels;
        c->share = fmin(c->share, tm_family_share(&c->family, &posed[i]));
    }
    return status;
}

/* few: members so few that they have a small basis. */
static tm_status finish_class(tm_pose_families *f, const makings *m, tm_pose_class *c, size_t few, int8_t **taps)
{
    const tm_posed *posed = pictures_of(m, c);
    const int basis = c->count < few ? LEAST_BASIS : BASIS;

    for (size_t i = 0; i < c->count; i++) {
        tm_pose_member *member = &c->members[i];
        f->members[member->pose] = member;
        tm_pose_member_make(member, &posed[i], member->pose, *taps);
        *taps += tm_pose_taps_size(&posed[i]);
    }
    const tm_status status = tm_family_finish(&c->family, posed, basis, SMALL_REST);
    if (status != TM_OK)
        return status;
    if (!c->family.count)
        f->fault = "its poses have too few pixels in common, or too many";
    else if (tm_pose_cells_make(c, posed, basis, SMALL_REST) != TM_OK)
        return TM_ERR_MEMORY;
    return f->fault || f->cell == 1 ? TM_OK : tm_pose_coarse_make(c, m->image, m->poses, f->cell);
}

static void free_classes(tm_pose_families *f)
{
    for (int k = 0; k < f->count; k++) {
        tm_family_free(&f->list[k].family);
        for (int i = 0; i < TM_POSE_LEVELS; i++)
            tm_family_free(&f->list[k].cells[i].family);
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

/* Begins all classes, with angles in bands. */
static tm_status begin_classes(tm_pose_families *f, makings *m, int degrees)
{
    const tm_pose_axis *angles = &m->poses->angles;
    int classes = 0;
    tm_status status = TM_OK;

    free_classes(f);
    m->half_turns = degrees * TM_POSE_UNIT == TM_POSE_TURN && angles->count * angles->step >= TM_POSE_TURN &&
                    angles->step <= MOST_STEP;
    for (size_t i = 0; i < m->count; i++)
        m->keys[i] = m->posed[i].count ? key_of(m, i, degrees) : -1;
    for (int key = next_key(m, -1); key != INT_MAX; key = next_key(m, key))
        classes++;
    f->list = calloc((size_t)classes, sizeof *f->list);
    if (!f->list)
        return TM_ERR_MEMORY;
    for (int key = next_key(m, -1); key != INT_MAX && status == TM_OK; key = next_key(m, key))
        status = begin_class(&f->list[f->count++], m, key);
    return status;
}

static bool have_in_common(const tm_pose_families *f, double share, size_t most)
{
    if (!f->count)
        return false;
    for (int k = 0; k < f->count; k++) {
        if (f->list[k].share < share || (f->list[k].count > most && f->list[k].family.pixels > FEW_PIXELS))
            return false;
    }
    return true;
}

static tm_status make_classes(tm_pose_families *f, makings *m, bool narrow)
{
    const int64_t range = (m->poses->angles.count - 1) * m->poses->angles.step;
    size_t few = FEW_MEMBERS;
    int8_t *taps = f->taps;
    tm_status status = TM_OK;

    for (int i = 0; i < (narrow ? ANGLE_BANDS : 1) && status == TM_OK; i++) {
        if (have_in_common(f, LEAST_SHARE, MOST_TOGETHER) || (f->count && range < band_degrees[i] * TM_POSE_UNIT))
            continue;
        status = begin_classes(f, m, band_degrees[i]);
        few = i ? FEW_IN_BAND : FEW_MEMBERS;
    }
    f->narrower = !narrow && !have_in_common(f, BEARABLE_SHARE, SIZE_MAX) &&
                  range >= band_degrees[ANGLE_BANDS - 1] * TM_POSE_UNIT;
    for (int k = 0; k < f->count && status == TM_OK && !f->fault; k++)
        status = finish_class(f, m, &f->list[k], few, &taps);
    return status;
}

static const char *fault_of(const makings *m, int64_t *bytes)
{
    *bytes = 0;
    for (size_t i = 0; i < m->count; i++) {
        const tm_posed *p = &m->posed[i];
        if (p->width * p->height > TM_POSE_PIXELS)
            return TOO_LARGE;
        *bytes += tm_pose_taps_size(p);
    }
    return *bytes > MOST_BYTES ? TOO_MANY : NULL;
}

/* Makes families of posed pictures, all of which are kept; or f->fault. */
static tm_status make_all(tm_pose_families *f, makings *m, bool narrow, int threads)
{
    int64_t bytes = 0;

    m->posed = calloc(m->count, sizeof *m->posed);
    m->sorted = calloc(m->count, sizeof *m->sorted);
    m->keys = malloc(m->count * sizeof *m->keys);
    f->members = calloc(m->count, sizeof *f->members);
    m->status = m->posed && m->sorted && m->keys && f->members ? TM_OK : TM_ERR_MEMORY;
    if (m->status == TM_OK)
        make_posed(m, threads);
    if (m->status == TM_OK) {
        f->fault = fault_of(m, &bytes);
        f->cell = tm_pose_coarse_cell(m->image, m->poses);
        f->taps = f->fault ? NULL : malloc((size_t)bytes + TM_POSE_STRIDE);
        m->status = f->taps || f->fault ? TM_OK : TM_ERR_MEMORY;
    }
    if (m->status == TM_OK && !f->fault)
        m->status = make_classes(f, m, narrow);
    for (size_t i = 0; m->posed && i < m->count; i++)
        tm_posed_free(&m->posed[i]);
    free(m->posed);
    free(m->sorted);
    free(m->keys);
    return m->status;
}

/* Why the posed pictures cannot all be kept; NULL: perhaps they can. */
static const char *fault_of_size(const tm_image *image, const tm_poses *poses)
{
    const int64_t count = tm_poses_count(poses);
    const double scale = (double)tm_poses_turn(poses, count - 1).scale / TM_POSE_UNIT;
    const double pixels = (double)image->width * (double)image->height;
    const double pictures = poses->support.disc ? (double)poses->support.distance : pixels * scale * scale;

    return !image->mask && pictures > TM_POSE_PIXELS        ? TOO_LARGE
           : (double)count * pixels > (double)MOST_BYTES ? TOO_MANY
                                                            : NULL;
}

bool tm_pose_families_too_large(const tm_image *image, const tm_poses *poses)
{
    return fault_of_size(image, poses) != NULL;
}

tm_status tm_pose_families_make(tm_pose_families *families, const tm_image *image,
                                const tm_poses *poses, bool narrow, bool large, int threads)
{
    makings m = {.image = image, .poses = poses, .count = (size_t)tm_poses_count(poses)};
    tm_pose_families f = {.poses = *poses, .fault = fault_of_size(image, poses)};
    tm_status status = TM_OK;
    const char *fault;
    bool kept = false; /* what is wrong is not their size */

    if (!f.fault) {
        status = make_all(&f, &m, narrow, threads);
        kept = f.taps != NULL;
    }
    if (status == TM_OK && f.fault && large) {
        status = tm_pose_large_make(&f.large, image, poses, threads, &fault);
        f.fault = fault && kept ? f.fault : fault;
    }
    *families = f;
    if (status != TM_OK)
        tm_pose_families_free(families);
    return status;
}

void tm_pose_families_free(tm_pose_families *f)
{
    free_classes(f);
    tm_pose_large_free(f->large);
    free(f->members);
    free(f->taps);
    *f = (tm_pose_families){0};
}
