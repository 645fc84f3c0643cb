/* SPDX-License-Identifier: MIT */
/* The FFT algorithm on the CPU: strips of tiles, shared out over threads. */
#include "fft/cpu.h"

#include <omp.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "fft/cpu_tile.h"

enum { SPECTRA = 8, PLANS = 8, STRIPS_PER_THREAD = 4 };

/* Spectra are kept up to this size altogether, and one in any case. */
#define SPECTRA_BYTES ((size_t)128 << 20)

/* FFTW_MEASURE makes transforms a third faster and takes 0.1 s to 0.4 s for a
 * length: it pays once a matcher has work for some seconds. Until then lengths
 * and plan types are such that FFTW_ESTIMATE chooses well. */
#define MEASURE_AFTER_MS 3000.0

/* FFTW's planner has global state; only executing plans is thread-safe. This
 * keeps matchers apart. A program that plans transforms of its own while another
 * of its threads matches calls fftw_make_planner_thread_safe. */
static pthread_mutex_t planner = PTHREAD_MUTEX_INITIALIZER;

/* A template's spectra, one after the other. */
typedef struct spectrum {
    tm_template *key;     /* an own copy */
    int length_x, length_y;
    tm_metric metric;     /* floats: makes the taps */
    int count;
    fftw_complex *points; /* NULL: free */
    size_t size;
    uint64_t used;
} spectrum;

typedef struct memory {
    void *data;
    size_t size;
} memory;

struct tm_fft_cpu {
    int threads;
    double spent_ms;
    tm_fft_plan plans[PLANS];
    int next_plan;
    spectrum spectra[SPECTRA];
    uint64_t clock;
    memory *memories; /* one per thread */
    int64_t again;
};

/* How a match is transformed. */
typedef struct transforms {
    const tm_fft_tiling *tiling;
    tm_fft_real *real; /* NULL: integers */
    tm_real_block_fn *block;
    int tiles, spectra; /* that are held */
} transforms;

static void destroy_plan(tm_fft_plan *plan)
{
    pthread_mutex_lock(&planner);
    if (plan->forward)
        fftw_destroy_plan(plan->forward);
    if (plan->backward)
        fftw_destroy_plan(plan->backward);
    pthread_mutex_unlock(&planner);
    *plan = (tm_fft_plan){0};
}

static bool make_plan(tm_fft_plan *plan, int length, bool measure)
{
    unsigned flags = measure ? FFTW_MEASURE : FFTW_ESTIMATE;
    fftw_complex *points = aligned_alloc(64, ((size_t)length * sizeof *points + 63) / 64 * 64);

    if (!points)
        return false;
    *plan = (tm_fft_plan){.length = length, .measured = measure};
    pthread_mutex_lock(&planner);
    plan->forward = fftw_plan_dft_1d(length, points, points, FFTW_FORWARD, flags);
    plan->backward = fftw_plan_dft_1d(length, points, points, FFTW_BACKWARD, flags);
    pthread_mutex_unlock(&planner);
    free(points);
    return plan->forward && plan->backward;
}

/* Keeps the other plan of the running match. */
static const tm_fft_plan *fetch_plan(tm_fft_cpu *fft, int length, bool measure,
                                     const tm_fft_plan *other)
{
    tm_fft_plan *plan = NULL;
    for (int i = 0; i < PLANS; i++) {
        if (fft->plans[i].length != length)
            continue;
        plan = &fft->plans[i];
        if (plan->measured || !measure)
            return plan;
    }
    if (!plan) {
        if (&fft->plans[fft->next_plan] == other)
            fft->next_plan = (fft->next_plan + 1) % PLANS;
        plan = &fft->plans[fft->next_plan];
        fft->next_plan = (fft->next_plan + 1) % PLANS;
    }
    destroy_plan(plan);
    if (make_plan(plan, length, measure))
        return plan;
    destroy_plan(plan);
    return NULL;
}

/* Lays out a thread's memory; with data NULL it finds the size. */
static size_t carve(tm_fft_scratch *s, char *data, const transforms *how)
{
    const tm_fft_tiling *t = how->tiling;
    const size_t x = (size_t)t->length_x, y = (size_t)t->length_y, tiles = (size_t)how->tiles;
    const size_t integers = how->real ? 0 : 1;
    const size_t sizes[] = {
        tiles * (size_t)tm_fft_row_stride(t->length_x) * y * sizeof(fftw_complex),
        (tiles + !integers) * TM_FFT_COLUMNS * y * sizeof(fftw_complex), integers * x,
        integers * 4 * x, integers * 4 * x, integers * 4 * x, integers * 4 * x,
        integers * 4 * (x + 1), integers * 8 * (x + 1), how->real ? sizeof *s->real : 0};
    void *parts[sizeof sizes / sizeof *sizes];
    size_t used = 0;

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        parts[i] = data ? data + used : NULL;
        used += (sizes[i] + 127) / 64 * 64;
    }
    *s = (tm_fft_scratch){parts[0], parts[1], parts[2], {parts[3], parts[4]}, {parts[5], parts[6]},
                          parts[7], parts[8], how->real ? parts[9] : NULL};
    if (how->real) {
        tm_fft_real_scratch layout;
        used += tm_fft_real_carve(data ? s->real : &layout, data ? data + used : NULL, how->real,
                                  how->block, t);
    }
    return used;
}

static bool fit_memory(memory *m, tm_fft_scratch *s, const transforms *how)
{
    size_t needed = carve(s, NULL, how);
    if (m->size < needed) {
        free(m->data);
        *m = (memory){aligned_alloc(64, needed), needed};
        if (!m->data)
            m->size = 0;
    }
    if (m->data)
        carve(s, m->data, how);
    return m->data != NULL;
}

static void drop_spectrum(spectrum *s)
{
    tm_template_destroy(&s->key);
    free(s->points);
    *s = (spectrum){0};
}

/* A free place, after dropping what was not used for longest until size fits. */
static spectrum *make_room(tm_fft_cpu *fft, size_t size)
{
    for (;;) {
        spectrum *oldest = NULL, *unused = NULL;
        size_t total = size;
        for (int i = 0; i < SPECTRA; i++) {
            spectrum *s = &fft->spectra[i];
            total += s->size;
            if (!s->points)
                unused = s;
            else if (!oldest || s->used < oldest->used)
                oldest = s;
        }
        if (unused && (total <= SPECTRA_BYTES || !oldest))
            return unused;
        drop_spectrum(oldest);
    }
}

/* What the taps are made of. */
static tm_template *copy_template(const tm_template *t)
{
    tm_template *copy = NULL;
    const tm_image image = {.samples = t->samples,
                            .width = t->width,
                            .height = t->height,
                            .stride = (ptrdiff_t)(t->width * t->channels * tm_sample_size(t->type)),
                            .type = t->type,
                            .channels = t->channels,
                            .mask = t->mask,
                            .mask_stride = (ptrdiff_t)t->width};
    return tm_template_prepare(&copy, &image) == TM_OK ? copy : NULL;
}

static size_t spectrum_points(const tm_fft_tiling *t)
{
    return (size_t)(t->length_x + TM_FFT_COLUMNS) * (size_t)t->length_y;
}

static const fftw_complex *fetch_spectrum(tm_fft_cpu *fft, const tm_job *job, const transforms *how,
                                          const tm_fft_plan *plan_x, const tm_fft_plan *plan_y)
{
    const tm_template *tmpl = job->tmpl;
    const tm_fft_tiling *t = how->tiling;
    const size_t points = spectrum_points(t);
    const size_t size = (size_t)how->spectra * points * sizeof(fftw_complex);
    const tm_metric metric = how->real ? job->metric : TM_METRIC_LCC;
    tm_fft_scratch scratch;

    for (int i = 0; i < SPECTRA; i++) {
        spectrum *s = &fft->spectra[i];
        if (s->points && s->length_x == t->length_x && s->length_y == t->length_y &&
            s->metric == metric && s->count == how->spectra && tm_template_equal(s->key, tmpl)) {
            s->used = ++fft->clock;
            return s->points;
        }
    }
    spectrum *s = make_room(fft, size);
    *s = (spectrum){copy_template(tmpl), t->length_x, t->length_y, metric, how->spectra,
                    aligned_alloc(64, (size + 63) / 64 * 64), size, ++fft->clock};
    if (!s->points || !s->key || !fit_memory(&fft->memories[0], &scratch, how)) {
        drop_spectrum(s);
        return NULL;
    }
    if (!how->real)
        tm_fft_spectrum(tmpl, metric, 0, t, plan_x, plan_y, &scratch, s->points);
    for (int taps = 0, i = 0; how->real && taps < TM_REAL_ALL_TAPS; taps++) {
        if (how->real->taken[taps])
            tm_fft_spectrum(tmpl, metric, taps, t, plan_x, plan_y, &scratch,
                            s->points + points * (size_t)i++);
    }
    return s->points;
}

/* Which planes are correlated with which spectra. */
static tm_fft_mix make_mix(const transforms *how, const fftw_complex *spectra)
{
    const tm_fft_real *real = how->real;
    tm_fft_mix mix = {1, 1, 1, {{0, 0, spectra}}};
    const fftw_complex *of[TM_REAL_ALL_TAPS];

    if (!real)
        return mix;
    for (int i = 0; i < TM_REAL_ALL_TAPS; i++) {
        of[i] = spectra;
        spectra += real->taken[i] ? spectrum_points(how->tiling) : 0;
    }
    mix = (tm_fft_mix){.planes = real->planes, .sums = real->sums, .terms = real->terms};
    for (int i = 0; i < real->terms; i++) {
        const tm_fft_real_term *term = &real->term[i];
        mix.term[i] = (tm_fft_term){term->plane, 0, of[term->taps]};
        while (real->sum[mix.term[i].sum] != term->sum)
            mix.term[i].sum++;
    }
    return mix;
}

/* Long strips share rows; short ones keep all threads busy. */
static int64_t tiles_of_strip(const tm_fft_tiling *t, int threads)
{
    int64_t wanted = (int64_t)threads * STRIPS_PER_THREAD;
    int64_t runs = (wanted + t->across - 1) / t->across;
    return t->down > runs ? t->down / runs : 1;
}

/* Cells are the strips' parts. Cuts of one axis, count strips of size, which with
 * a shift are as many again. */
static void fill_cuts(tm_peak_cuts *cuts, int64_t count, int64_t size, int64_t shift, int64_t end)
{
    for (int64_t i = 0; i < cuts->count; i++) {
        int64_t at = i < count ? i * size : shift + (i - count) * size;
        cuts->at[i] = at < end ? at : end;
    }
    cuts->at[cuts->count] = end;
}

static bool init_grid(tm_peak_grid *grid, const tm_job *job, const tm_fft_tiling *t, int64_t tiles,
                      int64_t runs)
{
    const tm_geometry *g = &job->geometry;
    if (!tm_peak_grid_init(grid, job, t->shift_x ? 2 * t->across : t->across,
                           t->shift_y ? 2 * runs : runs))
        return false;
    fill_cuts(&grid->x, t->across, t->step_x, t->shift_x, g->map_width);
    fill_cuts(&grid->y, runs, tiles * t->step_y, t->shift_y, g->map_height);
    return true;
}

static bool begin_scans(tm_peak_scan scans[2], tm_peak_grid *grid, const tm_fft_tiling *t,
                        int64_t column, int64_t run)
{
    for (int part = 0; part < 2; part++) {
        int64_t x = column + (part && t->shift_x ? t->across : 0);
        int64_t y = run + (part && t->shift_y ? grid->y.count / 2 : 0);
        if (grid->x.at[x] < grid->x.at[x + 1] && grid->y.at[y] < grid->y.at[y + 1] &&
            !tm_peak_scan_begin(&scans[part], grid, x, y))
            return false;
    }
    return true;
}

static tm_status match(tm_fft_cpu *fft, tm_job *job, const transforms *how)
{
    double start = clock_ms();
    const tm_fft_tiling *tiling = how->tiling;
    bool measure = fft->spent_ms + tiling->ms > MEASURE_AFTER_MS;
    tm_fft_strip strip = {.job = job,
                          .tiling = tiling,
                          .kind = how->real ? &tm_fft_reals : &tm_fft_integers,
                          .real = how->real};

    strip.plan_x = fetch_plan(fft, tiling->length_x, measure, NULL);
    strip.plan_y = fetch_plan(fft, tiling->length_y, measure, strip.plan_x);
    if (!strip.plan_x || !strip.plan_y)
        return TM_ERR_MEMORY;
    const fftw_complex *spectra = fetch_spectrum(fft, job, how, strip.plan_x, strip.plan_y);
    if (!spectra)
        return TM_ERR_MEMORY;
    const tm_fft_mix mix = make_mix(how, spectra);
    strip.mix = &mix;

    int64_t tiles = tiles_of_strip(tiling, fft->threads);
    int64_t runs = (tiling->down + tiles - 1) / tiles, strips = tiling->across * runs;
    tm_candidate best = TM_NO_CANDIDATE;
    tm_peak_grid grid;
    bool failed = job->peaks && !init_grid(&grid, job, tiling, tiles, runs);
    int threads = failed ? 1 : fft->threads < strips ? fft->threads : (int)strips;
#pragma omp parallel num_threads(threads)
    {
        tm_candidate mine = TM_NO_CANDIDATE;
        tm_fft_scratch scratch;
        tm_peak_scan scans[2] = {0};
        bool fits = !failed && fit_memory(&fft->memories[omp_get_thread_num()], &scratch, how);
#pragma omp for schedule(dynamic)
        for (int64_t i = 0; i < strips; i++) {
            tm_fft_strip own = strip;
            own.x = i % tiling->across * tiling->step_x;
            own.first = i / tiling->across * tiles;
            own.last = own.first + tiles < tiling->down ? own.first + tiles : tiling->down;
            if (job->peaks && fits) {
                own.scans = scans;
                fits = begin_scans(scans, &grid, tiling, i % tiling->across, i / tiling->across);
            }
            if (fits)
                tm_fft_strip_match(&own, &scratch, &mine);
        }
        tm_peak_scan_free(&scans[0]);
        tm_peak_scan_free(&scans[1]);
#pragma omp critical(tm_fft_merge)
        {
            failed |= !fits;
            fft->again += fits && how->real ? scratch.real->again : 0;
            if (tm_candidate_beats(mine, best))
                best = mine;
        }
    }
    if (job->peaks) {
        failed = failed || !tm_peak_grid_finish(&grid);
        tm_peak_grid_free(&grid);
    }
    if (failed)
        return TM_ERR_MEMORY;
    job->best = best;
    fft->spent_ms += clock_ms() - start;
    return TM_OK;
}

tm_status tm_fft_cpu_match(tm_fft_cpu *fft, tm_job *job, const tm_fft_tiling *tiling,
                           tm_real_block_fn *block)
{
    tm_fft_real real;
    transforms how = {.tiling = tiling, .block = block, .tiles = 1, .spectra = 1};

    fft->again = 0;
    if (tm_job_is_real(job)) {
        tm_fft_real_make(&real, job);
        how.real = &real;
        how.tiles = tm_fft_real_tiles(&real);
        how.spectra = tm_fft_real_spectra(&real);
    }
    return match(fft, job, &how);
}

int64_t tm_fft_cpu_again(const tm_fft_cpu *fft)
{
    return fft->again;
}

tm_status tm_fft_cpu_create(tm_fft_cpu **fft, int threads)
{
    tm_fft_cpu *f = calloc(1, sizeof *f);
    memory *memories = calloc((size_t)threads, sizeof *memories);
    if (!f || !memories) {
        free(f);
        free(memories);
        return TM_ERR_MEMORY;
    }
    f->threads = threads;
    f->memories = memories;
    *fft = f;
    return TM_OK;
}

void tm_fft_cpu_destroy(tm_fft_cpu **fft)
{
    tm_fft_cpu *f = *fft;
    if (!f)
        return;
    for (int i = 0; i < PLANS; i++)
        destroy_plan(&f->plans[i]);
    for (int i = 0; i < SPECTRA; i++)
        drop_spectrum(&f->spectra[i]);
    for (int i = 0; i < f->threads; i++)
        free(f->memories[i].data);
    free(f->memories);
    free(f);
    *fft = NULL;
}
