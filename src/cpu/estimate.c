/* SPDX-License-Identifier: MIT */
#include "cpu/estimate.h"

#include <math.h>
#include <string.h>

#include "cpu/costs.h"
#include "fft/f32.h"
#include "fft/tiling.h"
#include "integers.h"
#include "lcc/cpu/f32_staged.h"
#include "lcc/cpu/kernels.h"

/* Below this, looking for a tiling takes as long as the match. */
#define TRIVIAL_MS 0.1

/* The direct algorithm makes whole blocks of columns, and only the last tile of a row has a block
 * that is not full. */
static double made_width(const tm_geometry *g)
{
    return (double)round_up(g->map_width, TM_BLOCK);
}

/* Which line of a table of costs is for these kernels. Its lines begin with the kernels' name. */
static size_t line_of(const void *table, size_t line_size, const char *kernels)
{
    for (size_t line = 0;; line++) {
        const char *name;
        memcpy(&name, (const char *)table + line * line_size, sizeof name);
        if (!name || strcmp(name, kernels) == 0)
            return line;
    }
}

#define COSTS_OF(table, kernels) (table)[line_of(table, sizeof *(table), kernels)]

static tm_direct_costs f32_costs_of(const char *kernels, const tm_job *job)
{
    const tm_metric metric = job->metric;
    const int sums = tm_needs_s_f(metric) ? 2 : tm_f32_needs_s_ff(metric);
    const int channels = job->tmpl->channels;
    tm_direct_costs costs = COSTS_OF(tm_cpu_f32_costs, kernels);

    costs.window = channels * (costs.window + sums * TM_CPU_F32_SUM_NS);
    costs.row = channels * (costs.row + sums * TM_CPU_F32_SUM_ROW_NS);
    costs.tap *= channels * (job->tmpl->mask ? 1 + sums : 1);
    return costs;
}

static const tm_rates *rates_of(const tm_cpu_conditions *c)
{
    static const tm_rates usual = TM_USUAL_RATES;
    return c->rates ? c->rates : &usual;
}

static tm_direct_costs direct_costs_of(const tm_cpu_conditions *c)
{
    tm_direct_costs costs = COSTS_OF(tm_cpu_direct_costs, c->kernels);
    costs.window *= rates_of(c)->windows;
    costs.row *= rates_of(c)->windows;
    costs.tap *= rates_of(c)->products;
    return costs;
}

double tm_cpu_product_ns(const tm_cpu_conditions *c, const tm_job *job)
{
    const tm_direct_costs costs = direct_costs_of(c);
    return (double)job->tmpl->height * (costs.row + (double)job->tmpl->width * costs.tap);
}

/* A job that is so small that one thread matches it alone takes less than TRIVIAL_MS. */
static double direct_ms(const tm_cpu_conditions *c, const tm_job *job)
{
    const tm_geometry *g = &job->geometry;
    const tm_direct_costs costs = tm_job_is_f32(job) ? f32_costs_of(c->kernels, job) : direct_costs_of(c);
    const double ms = tm_direct_ns(&costs, g, made_width(g), g->map_height) * 1e-6 *
                      (tm_job_is_f32(job) ? rates_of(c)->floats : 1);
    return ms < TRIVIAL_MS ? ms : ms / c->threads;
}

/* The share of windows that pass is known only when they were looked at. Of nine pictures, templates
 * with noise and all levels its geometric mean was half of 10^(SHARE + SHARE_REST rest) taps^SHARE_TAPS,
 * but it was often ten times more or less. What the blocks show well leaves more out: tenfold with each
 * step of rest. */
#define SHARE (-0.6)
#define SHARE_REST 0.6
#define SHARE_TAPS (-1.6)
#define LOW_SHARE 0.001
#define LOW_REST 0.55
#define LOW_STEP 0.15
#define LOW_PIXELS 441 /* of templates of so many pixels; larger ones score less by chance */

/* Levels that show no more of a template's variance than this times what they show of noise leave out
 * nearly nothing. */
#define LEAST_GAIN 2

static bool is_noise(const tm_level *l, const tm_template *t)
{
    const double of_noise = (l->across * l->down - 1) / (double)(t->n - 1);
    return 1 - l->rest * l->rest < LEAST_GAIN * of_noise;
}

/* A thread keeps as many rows as the template has. */
#define MOST_HEIGHT 1024

/* What a search costs besides its windows. */
#define CERTIFIED_CALL_MS 0.03

/* How often windows' own sums are needed, where blocks are few, times their number: the fewer there are, the more
 * windows resemble the template in them by chance. */
#define SUMS_NEEDED 6

static bool is_few(const tm_certified_costs *costs, const tm_level *l)
{
    return tm_certified_pairs(l) <= costs->few_pairs && tm_certified_may_be_few(l);
}

/* What a window costs before it passes. sums: in how many of all rows its own sums are made, where blocks are few. */
static double look_ns(const tm_certified_costs *costs, const tm_level *l, const tm_template *t, double sums)
{
    const double margin = tm_level_tiles(l, t->width, t->height) ? 0 : costs->margin;
    /* the more of the template the blocks show, the sooner its greatest taps decide */
    const double taps = l->across * l->down * pow(l->rest, 4);

    if (is_few(costs, l))
        return costs->few + tm_certified_pairs(l) * costs->pair + sums * costs->sums;
    return margin + costs->window + l->across * costs->square + taps * costs->tap;
}

static double certified_ns(const tm_certified_costs *costs, const tm_level *l, const tm_template *t)
{
    const double usual = pow(10, SHARE + SHARE_REST * l->rest) * pow(l->across * l->down, SHARE_TAPS);
    const double low = LOW_SHARE * fmin(1, LOW_PIXELS / (double)t->n) *
                       pow(10, (l->rest - LOW_REST) / LOW_STEP);
    const double share = fmin(1, fmin(usual, low));
    const double sums = fmin(1, SUMS_NEEDED / (double)(l->across * l->down));
    return look_ns(costs, l, t, sums) + share * (costs->pass + (double)t->n * costs->pixel);
}

static tm_certified_choice choice_of(const tm_certified_costs *costs, const tm_level *level, const tm_template *t,
                                     double rate)
{
    return (tm_certified_choice){level, is_few(costs, level), look_ns(costs, level, t, 1) * rate};
}

/* Adds levels of smaller blocks, which are looked at in less time than the other way takes, and but for those that
 * a finer one is quicker than. */
static void add_finer(tm_certified_plan *plan, const tm_certified_costs *costs, const tm_template *t, double rate)
{
    for (ptrdiff_t i = plan->by.level - t->levels.list - 1; i >= 0; i--) {
        const tm_certified_choice finer = choice_of(costs, &t->levels.list[i], t, rate);
        if (finer.look_ns >= plan->other_ns)
            continue;
        while (plan->finer_count && plan->finer[plan->finer_count - 1].look_ns >= finer.look_ns)
            plan->finer_count--;
        if (plan->finer_count < TM_CERTIFIED_FINER)
            plan->finer[plan->finer_count++] = finer;
    }
}

/* Where a level costs so much more than the best one, to share the sums of others does not pay. */
#define SHARED_COST 1.25

double tm_cpu_certified_plan(tm_certified_plan *plan, const tm_cpu_conditions *c, const tm_job *job,
                             const tm_level *shared)
{
    const tm_certified_costs costs = COSTS_OF(tm_cpu_certified_costs, c->kernels);
    const tm_direct_costs direct = direct_costs_of(c);
    const tm_levels *levels = &job->tmpl->levels;
    const double windows = (double)job->geometry.map_width * (double)job->geometry.map_height;
    const tm_level *like = NULL, *chosen = NULL;
    double best = INFINITY, like_ns = INFINITY;

    *plan = (tm_certified_plan){0};
    for (int i = 0; i < levels->count; i++) {
        const tm_level *level = &levels->list[i];
        const double ns = certified_ns(&costs, level, job->tmpl);
        if (ns < best) {
            best = ns;
            chosen = level;
        }
        if (shared && tm_level_is_like(level, shared)) {
            like = level;
            like_ns = ns;
        }
    }
    if (like_ns <= SHARED_COST * best) {
        best = like_ns;
        chosen = like;
    }
    if (!chosen)
        return INFINITY;
    const double all = tm_direct_ns(&direct, &job->geometry, 1, 1);
    const double other = job->other_ms > 0 ? job->other_ms * 1e6 * c->threads / windows : all;
    plan->by = choice_of(&costs, chosen, job->tmpl, rates_of(c)->windows);
    plan->pass_ns = (costs.pass + (double)job->tmpl->n * costs.pixel) * rates_of(c)->windows;
    plan->other_ns = fmin(all, other);
    add_finer(plan, &costs, job->tmpl, rates_of(c)->windows);
    plan->in_tiles = all <= other * 1.01; /* but for rounding */
    return CERTIFIED_CALL_MS + windows * best * rates_of(c)->windows * 1e-6 / c->threads;
}

/* What FFT holds in memory: each thread has tiles and some bytes of staged samples, and all share
 * the template's spectra. */
typedef struct held_memory {
    int tiles, spectra;
    int64_t staged;
} held_memory;

enum { FFT_LENGTHS = sizeof tm_cpu_fft_lengths / sizeof *tm_cpu_fft_lengths };

/* What FFT of integers costs with these features. The costs' lengths are written to the array. */
static tm_fft_costs fft_costs(uint32_t features, tm_fft_length *lengths)
{
    const double by = features & TM_CPU_AVX2 ? 1 : TM_CPU_PLAIN_TRANSFORMS;
    tm_fft_costs costs = tm_cpu_fft_costs;

    for (int i = 0; i < FFT_LENGTHS; i++)
        lengths[i] = (tm_fft_length){costs.lengths[i].length, costs.lengths[i].ns * by};
    costs.lengths = lengths;
    return costs;
}

/* The same of floats. */
static tm_fft_costs f32_fft_costs(uint32_t features, const tm_job *job, tm_fft_length *lengths,
                                  held_memory *held)
{
    tm_fft_costs costs = fft_costs(features, lengths);
    tm_fft_f32 f32;

    tm_fft_f32_make(&f32, job);
    held->tiles = tm_fft_f32_tiles(&f32);
    held->spectra = tm_fft_f32_spectra(&f32);
    const tm_f32_staged staged = tm_f32_staged_of(job, NULL, TM_FFT_STAGED, 1);
    held->staged = tm_f32_staged_samples(&staged) * (int64_t)sizeof(double);
    for (int i = 0; i < costs.count; i++)
        lengths[i].ns *= tm_fft_f32_transforms(&f32) / 2.0;
    costs.window_ns = TM_CPU_F32_WINDOW_NS + TM_CPU_F32_SLIDE_NS * f32.slides;
    costs.max_points /= held->tiles;
    return costs;
}

static const char *estimate_fft(tm_estimate *estimate, const tm_cpu_conditions *c,
                                const tm_job *job)
{
    const tm_geometry *g = &job->geometry;
    tm_fft_length lengths[FFT_LENGTHS];
    held_memory held = {1, 1, 0};
    tm_fft_costs costs = tm_job_is_f32(job) ? f32_fft_costs(c->features, job, lengths, &held)
                                            : fft_costs(c->features, lengths);
    double memory_ns = TM_CPU_FFT_MEMORY_NS * (c->threads * held.tiles + held.spectra);

    costs.memory_ns = memory_ns / TM_CPU_FFT_FRAMES;
    if (c->fft_bytes) { /* tiles for each thread and the template's, with their margins */
        const int64_t points = (c->fft_bytes - c->threads * held.staged) /
                               (16 * (c->threads * held.tiles + held.spectra + 1));
        costs.max_points = points < costs.max_points ? points : costs.max_points;
    }
    /* a column's sums are kept in 32 bits */
    if (g->template_height > 65536 || !tm_fft_tile_map(&estimate->tiling, g, &costs, c->threads))
        return c->fft_bytes ? "transforms as long as the template do not fit in the memory limit"
                            : "the template is too long for a transform";
    double points = (double)estimate->tiling.length_x * estimate->tiling.length_y;
    double start_ms = (TM_CPU_FFT_START_NS + points * memory_ns) * 1e-6;
    estimate->fft_ms = (estimate->tiling.ms + (TM_CPU_FFT_CALL_NS - points * costs.memory_ns) * 1e-6) *
                       rates_of(c)->fft;
    /* FFT starts once the time that it would have saved has paid for the start. However many
     * frames come, that takes at most twice as long as the better choice. */
    if (!c->started && c->missed_ms < start_ms) {
        if (estimate->fft_ms < estimate->direct_ms)
            estimate->missed_ms = estimate->direct_ms - estimate->fft_ms;
        estimate->fft_ms += start_ms - c->missed_ms;
    }
    return NULL;
}

static void estimate_certified(tm_estimate *estimate, const tm_cpu_conditions *c,
                               const tm_job *job)
{
    tm_certified_plan plan;
    const double ms = tm_cpu_certified_plan(&plan, c, job, NULL);

    if (job->tmpl->height > MOST_HEIGHT)
        estimate->certified_fault = "the template is too high";
    else if (!plan.by.level)
        estimate->certified_fault = "the template has too few pixels, or no variance between blocks";
    else if (c->strategy != TM_STRATEGY_CERTIFIED && is_noise(plan.by.level, job->tmpl))
        estimate->certified_fault = "the template is nearly noise";
    else
        estimate->certified_ms = ms;
}

void tm_cpu_estimate(tm_estimate *estimate, const tm_cpu_conditions *c, const tm_job *job,
                     bool wants_fft)
{
    *estimate = (tm_estimate){.direct_ms = direct_ms(c, job),
                              .fft_ms = INFINITY,
                              .certified_ms = INFINITY,
                              .certified_fault = tm_certified_fault(job)};
    if (!estimate->certified_fault && c->strategy != TM_STRATEGY_EXHAUSTIVE)
        estimate_certified(estimate, c, job);
    if (!wants_fft && estimate->direct_ms < TRIVIAL_MS)
        return;
    estimate->fault = estimate_fft(estimate, c, job);
    if (!estimate->fault)
        estimate->fault = tm_fft_fault(&estimate->tiling, job);
    if (estimate->fault)
        estimate->fft_ms = INFINITY;
}
