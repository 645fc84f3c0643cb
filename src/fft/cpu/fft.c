/* SPDX-License-Identifier: MIT */
/* The FFT algorithm on the CPU: columns of tiles, shared out over threads. */
#include "fft/cpu/fft.h"

#include <stdlib.h>

#include "clock.h"
#include "fft/cpu/plans.h"
#include "integers.h"
#include "lcc/tiles.h"

enum { COLUMNS_PER_THREAD = 4 };

/* Where transforms can be measured, as FFTW's can, that makes them a third faster and takes 0.1 s to
 * 0.4 s for a length: it pays once a matcher has work for some seconds. */
#define MEASURE_AFTER_MS 3000.0

typedef struct memory {
    void *data;
    size_t size;
    tm_fft_scratch scratch; /* laid out in data */
} memory;

struct tm_fft_cpu {
    int threads;
    uint32_t features;
    double spent_ms;
    tm_fft_plans plans;
    tm_fft_spectra spectra;
    memory *memories; /* one per thread */
    int64_t again;
};

/* What the transforms of a match depend on. */
typedef struct transforms {
    const tm_fft_tiling *tiling;
    tm_fft_f32 *f32; /* NULL: integers */
    tm_f32_block_fn *block;
    int tiles; /* that a thread holds */
} transforms;

/* Lays out a thread's memory; with data NULL it finds the size. */
static size_t carve(tm_fft_scratch *s, char *data, const transforms *how)
{
    const tm_fft_tiling *t = how->tiling;
    const size_t x = (size_t)t->length_x, y = (size_t)t->length_y, tiles = (size_t)how->tiles;
    const size_t integers = how->f32 ? 0 : 1;
    const size_t sizes[] = {tiles * (size_t)tm_fft_row_stride(t->length_x) * y *
                                sizeof(tm_fft_point),
                            (tiles + !integers) * TM_FFT_COLUMNS * y * sizeof(tm_fft_point),
                            (x > y ? x : y) * sizeof(tm_fft_point),
                            integers * x,
                            integers * 4 * x,
                            integers * 4 * x,
                            integers * 4 * x,
                            integers * 4 * x,
                            integers * 4 * (x + 1),
                            integers * 8 * (x + 1),
                            how->f32 ? sizeof *s->f32 : 0};
    void *parts[sizeof sizes / sizeof *sizes];
    size_t used = 0;

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        parts[i] = data ? data + used : NULL;
        used += (sizes[i] + 127) / 64 * 64;
    }
    *s = (tm_fft_scratch){parts[0],
                          parts[1],
                          parts[2],
                          parts[3],
                          {parts[4], parts[5]},
                          {parts[6], parts[7]},
                          parts[8],
                          parts[9],
                          how->f32 ? parts[10] : NULL};
    if (how->f32) {
        tm_fft_f32_scratch layout;
        used += tm_fft_f32_carve(data ? s->f32 : &layout, data ? data + used : NULL, how->f32,
                                 how->block, t);
    }
    return used;
}

static bool fit_memory(memory *m, const transforms *how)
{
    tm_fft_scratch *s = &m->scratch;
    size_t needed = carve(s, NULL, how);
    if (m->size < needed) {
        free(m->data);
        m->data = aligned_alloc(64, needed);
        m->size = m->data ? needed : 0;
    }
    if (m->data)
        carve(s, m->data, how);
    return m->data != NULL;
}

/* Lists which planes are correlated with which spectra. */
static tm_fft_mix make_mix(const transforms *how, const tm_fft_point *spectra)
{
    const tm_fft_f32 *f32 = how->f32;
    tm_fft_mix mix = {1, 1, 1, {{0, 0, spectra}}};
    const tm_fft_point *of[TM_F32_ALL_TAPS];

    if (!f32)
        return mix;
    for (int i = 0; i < TM_F32_ALL_TAPS; i++) {
        of[i] = spectra;
        spectra += f32->taken >> i & 1 ? tm_fft_spectrum_points(how->tiling) : 0;
    }
    mix = (tm_fft_mix){.planes = f32->planes, .sums = f32->sums, .terms = f32->terms};
    for (int i = 0; i < f32->terms; i++) {
        const tm_fft_f32_term *term = &f32->term[i];
        mix.term[i] = (tm_fft_term){term->plane, 0, of[term->taps]};
        while (f32->sum[mix.term[i].sum] != term->sum)
            mix.term[i].sum++;
    }
    return mix;
}

/* In a long column tiles share more transformed rows; many short ones keep all threads busy. */
static int64_t tiles_of_column(const tm_fft_tiling *t, int threads)
{
    int64_t wanted = (int64_t)threads * COLUMNS_PER_THREAD;
    int64_t columns = (wanted + t->across - 1) / t->across;
    return t->down > columns ? t->down / columns : 1;
}

/* One match, seen by all its threads. */
typedef struct run {
    tm_fft_cpu *fft;
    const transforms *how;
    const tm_fft_tile_column *column; /* each takes a copy and sets x, first, last and scans */
    int64_t tiles;                    /* of a column */
} run;

static void *begin(void *context, int thread)
{
    const run *r = context;
    memory *m = &r->fft->memories[thread];
    return fit_memory(m, r->how) ? &m->scratch : NULL;
}

static void match_column(void *context, void *scratch, const tm_tile *tile, tm_candidate *best)
{
    const run *r = context;
    const tm_fft_tiling *t = r->column->tiling;
    tm_fft_tile_column column = *r->column;

    column.x = tile->x;
    column.first = tile->y / t->step_y;
    column.last = smaller(column.first + r->tiles, t->down);
    column.scans = tile->scan;
    tm_fft_tile_column_match(&column, scratch, best);
}

static void end(void *context, void *scratch)
{
    const run *r = context;
    const tm_fft_scratch *s = scratch;
    if (r->how->f32)
        r->fft->again += s->f32->again;
}

static tm_status match(tm_fft_cpu *fft, tm_job *job, const transforms *how)
{
    double start = clock_ms();
    const tm_fft_tiling *tiling = how->tiling;
    bool measure = fft->spent_ms + tiling->ms > MEASURE_AFTER_MS;
    tm_fft_tile_column column = {.job = job,
                                 .tiling = tiling,
                                 .samples = how->f32 ? &tm_fft_f32_samples : &tm_fft_integers,
                                 .f32 = how->f32};
    tm_fft_scratch *first = &fft->memories[0].scratch;

    column.plan_x = tm_fft_plan_fetch(&fft->plans, tiling->length_x, measure, fft->features, NULL);
    column.plan_y = tm_fft_plan_fetch(&fft->plans, tiling->length_y, measure, fft->features,
                                      column.plan_x);
    if (!column.plan_x || !column.plan_y || !fit_memory(&fft->memories[0], how))
        return TM_ERR_MEMORY;
    const tm_fft_point *spectra = tm_fft_spectra_fetch(&fft->spectra, &column, first);
    if (!spectra)
        return TM_ERR_MEMORY;
    const tm_fft_mix mix = make_mix(how, spectra);
    column.mix = &mix;

    run r = {.fft = fft, .how = how, .column = &column};
    r.tiles = tiles_of_column(tiling, fft->threads);
    const tm_tiles tiles = {.across = tiling->across,
                            .down = ceil_div(tiling->down, r.tiles),
                            .width = tiling->step_x,
                            .height = r.tiles * tiling->step_y,
                            .shift_x = tiling->shift_x,
                            .shift_y = tiling->shift_y};
    const tm_status status = tm_tiles_match(
        job, &tiles, (int)smaller(fft->threads, tiles.across * tiles.down),
        &(tm_tile_work){.context = &r, .begin = begin, .match = match_column, .end = end});
    if (status == TM_OK)
        fft->spent_ms += clock_ms() - start;
    return status;
}

tm_status tm_fft_cpu_match(tm_fft_cpu *fft, tm_job *job, const tm_fft_tiling *tiling,
                           tm_f32_block_fn *block)
{
    tm_fft_f32 f32;
    transforms how = {.tiling = tiling, .block = block, .tiles = 1};

    fft->again = 0;
    if (tm_job_is_f32(job)) {
        tm_fft_f32_make(&f32, job);
        how.f32 = &f32;
        how.tiles = tm_fft_f32_tiles(&f32);
    }
    return match(fft, job, &how);
}

int64_t tm_fft_cpu_again(const tm_fft_cpu *fft)
{
    return fft->again;
}

tm_status tm_fft_cpu_create(tm_fft_cpu **fft, int threads, uint32_t features)
{
    tm_fft_cpu *f = calloc(1, sizeof *f);
    memory *memories = calloc((size_t)threads, sizeof *memories);
    if (!f || !memories) {
        free(f);
        free(memories);
        return TM_ERR_MEMORY;
    }
    f->threads = threads;
    f->features = features;
    f->memories = memories;
    *fft = f;
    return TM_OK;
}

void tm_fft_cpu_destroy(tm_fft_cpu **fft)
{
    tm_fft_cpu *f = *fft;
    if (!f)
        return;
    tm_fft_plans_free(&f->plans);
    tm_fft_spectra_free(&f->spectra);
    for (int i = 0; i < f->threads; i++)
        free(f->memories[i].data);
    free(f->memories);
    free(f);
    *fft = NULL;
}
