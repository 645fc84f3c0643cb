/* SPDX-License-Identifier: MIT */
/* By certified search, on the CPU or a CUDA device: what the exhaustive search finds, of positions that matter. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "clock.h"
#include "cpu/cpu.h"
#include "hash.h"
#include "match/poses.h"

#define TOO_MANY "too few positions would be left out"

/* Nanoseconds, about, of one thread: to score a position exhaustively where all pixels count, or else,
 * then also for each pixel, unless FFT is quicker. */
#define WHOLE_NS 10.0
#define POSITION_NS 5.0
#define PRODUCTS_NS 0.012
#define FFT_NS 40.0

/* To make a pixel of a member and of its family; to look at a window by a family, and for each of its
 * pixels, if it has few members or many. */
#define MAKE_NS 60.0
#define LOOK_NS 10.0
#define FEW_NS 0.01
#define MANY_NS 0.04
#define FEW 16

/* Why it is not to be, a clause; NULL: it may be. */
static const char *fault_of(const tm_matcher *m, const tm_image *frame, const tm_posed_template *t)
{
    if (m->settings.metric != TM_METRIC_LCC)
        return "its bound is for LCC alone";
    if (t->image.type != TM_SAMPLE_U8 || t->image.channels != 1)
        return "its bound is for 8-bit gray alone";
    if (frame->mask)
        return "the frame has a mask";
    if (m->pool && m->settings.strategy != TM_STRATEGY_CERTIFIED)
        return "on CUDA devices it has to be asked for";
    return m->pool ? tm_pool_poses_fault(m->pool) : NULL;
}

/* How many poses have pixels that do not count. */
static int64_t count_masked(const tm_posed_template *t)
{
    const int64_t scales = t->poses.scales.count;
    int64_t turned = 0;

    if (t->poses.support.disc || t->mask)
        return (int64_t)t->count;
    for (int64_t i = 0; i < t->poses.angles.count; i++)
        turned += tm_poses_turn(&t->poses, i).angle % (TM_POSE_TURN / 4) != 0;
    return turned * scales;
}

/* Whether it is expected to be quicker, with what has to be made for it first. */
static bool pays(const tm_image *frame, const tm_posed_template *t)
{
    const double scale = (double)tm_poses_turn(&t->poses, 0).scale / TM_POSE_UNIT;
    const double pixels = (double)t->image.width * (double)t->image.height * scale * scale;
    const double windows = (double)frame->width * (double)frame->height, poses = (double)t->count;
    const double masked = (double)count_masked(t), classes = (double)tm_pose_families_expect(&t->poses);
    const double exhaustive =
        (poses - masked) * WHOLE_NS + masked * (POSITION_NS + fmin(PRODUCTS_NS * pixels, FFT_NS));
    const double looks = classes * (LOOK_NS + (poses < FEW * classes ? FEW_NS : MANY_NS) * pixels);
    const double making = t->kept->families[0] ? 0 : poses * pixels * MAKE_NS;

    return making + windows * looks < 0.6 * windows * exhaustive;
}

/* The same picture in the same poses has the same. */
static uint64_t hash_of(const tm_posed_template *t)
{
    if (t->kept->hash)
        return t->kept->hash;
    const size_t bytes = (size_t)(tm_image_row_bytes(&t->image) * t->image.height);
    uint64_t hash = hash_bytes(0, &t->poses.angles, sizeof t->poses.angles);
    hash = hash_bytes(hash, &t->poses.scales, sizeof t->poses.scales);
    return t->kept->hash = hash_bytes(hash, t->samples, bytes);
}

static tm_status prepare(const tm_posed_template *t, bool narrow)
{
    if (t->kept->families[narrow])
        return TM_OK;
    tm_pose_families *families = malloc(sizeof *families);
    if (!families)
        return TM_ERR_MEMORY;
    const tm_status status = tm_pose_families_make(families, &t->image, &t->poses, narrow, t->threads);
    if (status == TM_OK)
        t->kept->families[narrow] = families;
    else
        free(families);
    return status;
}

/* On the pool's device. */
static tm_status match_on_pool(tm_matcher *m, tm_pose_search *s)
{
    tm_message message;
    tm_work work;

    const tm_status status = tm_pool_match_poses(m->pool, s, &work, &message);
    if (status != TM_OK)
        return status;
    m->on_pool = true;
    m->times.to_device += work.times.to_device;
    m->times.kernel += work.times.kernel;
    m->times.from_device += work.times.from_device;
    if (s->declined || tm_pose_keep_peaks(s))
        return TM_OK;
    free(s->items);
    return TM_ERR_MEMORY;
}

/* Searches by families of all angles or narrow ones; *fault: why that cannot be, else NULL. */
static tm_status search_by(tm_matcher *m, const tm_posed_template *t, bool narrow, tm_pose_search *s,
                           const char **fault)
{
    const tm_status status = prepare(t, narrow);

    if (status != TM_OK)
        return status;
    s->families = t->kept->families[narrow];
    s->narrow = narrow;
    *fault = s->families->fault;
    if (*fault)
        return TM_OK;
    return m->pool ? match_on_pool(m, s) : tm_cpu_match_poses(m->cpu, s);
}

static void say(tm_matcher *m, const tm_posed_template *t, const tm_pose_search *s)
{
    m->algorithm = "direct";
    m->plan[0] = '\0';
    if (m->pool)
        tm_pool_name(m->pool, m->device, sizeof m->device);
    else
        snprintf(m->device, sizeof m->device, "cpu");
    tm_matcher_say(m, "%zu pose%s certified (%.2g %% of positions scored exactly), direct on %s", t->count,
                   t->count == 1 ? "" : "s", 100 * (double)s->scored / (double)s->pairs, m->device);
    if (m->pool)
        return;
    const tm_device_traits traits = tm_cpu_backend()->traits(m->cpu);
    tm_matcher_say(m, ", %s kernels, up to %d thread%s", traits.kernels, traits.threads,
                   traits.threads == 1 ? "" : "s");
}

bool tm_poses_certify(tm_matcher *m, const tm_image *frame, const tm_posed_template *t,
                      tm_certified_poses *wanted, tm_pose_peaks *found, tm_status *status)
{
    const double start = clock_ms();

    *status = TM_OK;
    m->pose_fault = NULL;
    if (!tm_matcher_wants_certified(m))
        return false;
    m->pose_fault = fault_of(m, frame, t);
    if (m->pose_fault || (m->settings.strategy == TM_STRATEGY_AUTO && !pays(frame, t)))
        return false;
    const uint64_t hash = hash_of(t);
    if (tm_pause_skips(&m->pose_pauses, hash)) {
        m->pose_fault = TOO_MANY;
        return false;
    }
    if (!m->pool)
        *status = tm_matcher_open_cpu(m);
    tm_pose_search s = {.image = &t->image,
                        .frame = frame,
                        .domain = m->settings.domain,
                        .floor = wanted->floor,
                        .ceiling = wanted->ceiling,
                        .wanted = wanted->wanted,
                        .most = wanted->most};
    if (*status == TM_OK)
        *status = search_by(m, t, false, &s, &m->pose_fault);
    if (*status == TM_OK && s.families->narrower && (m->pose_fault || s.narrower || s.declined)) {
        s.floor = wanted->floor;
        *status = search_by(m, t, true, &s, &m->pose_fault);
    }
    if (*status != TM_OK && m->pool) { /* the exhaustive search after it makes that good, or fails as well */
        *status = TM_OK;
        m->pose_fault = "the CUDA device failed, or has too little memory";
        return false;
    }
    if (*status != TM_OK) {
        tm_matcher_fail_plain(m, *status);
        return true;
    }
    if (m->pose_fault)
        return false;
    tm_pause_note(&m->pose_pauses, hash, !s.declined);
    if (s.declined)
        m->pose_fault = TOO_MANY;
    if (s.declined || !s.pairs)
        return false;
    wanted->floor = s.floor;
    *found = (tm_pose_peaks){.best = s.best, .items = s.items, .count = s.count};
    m->certified = true;
    m->windows += s.pairs;
    m->scored += s.scored;
    if (!m->pool) /* a device says how long it took */
        m->times.kernel += clock_ms() - start;
    say(m, t, &s);
    return true;
}
