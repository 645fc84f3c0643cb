/* SPDX-License-Identifier: MIT */
#include "lcc/family.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "integers.h"
#include "lcc/components.h"

enum {
    MOST_SAMPLES = 192, /* members that the basis is made of */
    LEAST_PIXELS = 9,   /* of a core */
};

/* Coordinates are made in double precision of taps that are integers, so that the rests are good to
 * 1e-7 where their squares nearly vanish, too. */
#define ROUNDING 4e-7

/* A product with the inverse factor in binary32: each of up to TM_FAMILY_BASIS terms is off by so much
 * of itself at most, with what was rounded before. */
#define TERM_ERROR (40 * 0x1p-24)

/* Whether pixel (x, y) of a box about the centre counts in the member. */
static bool counts(const tm_posed *p, int64_t width, int64_t height, int64_t x, int64_t y)
{
    const int64_t left = (p->width - width) / 2, top = (p->height - height) / 2;
    return p->mask[(top + y) * p->width + left + x] != 0;
}

/* Where the pixels begin and end that count in all members, in a box about the centre. core: of the
 * box, becomes 1 there and 0 elsewhere. */
static void find_core(tm_family *f, uint8_t *core, const tm_posed *members)
{
    int margin_x = f->width, margin_y = f->height;

    for (int i = 0; i < f->width * f->height; i++) {
        const int x = i % f->width, y = i / f->width;
        bool all = true;
        for (int k = 0; k < f->count && all; k++)
            all = counts(&members[k], f->width, f->height, x, y);
        core[i] = all;
        if (!all)
            continue;
        margin_x = (int)smaller(margin_x, smaller(x, f->width - 1 - x));
        margin_y = (int)smaller(margin_y, smaller(y, f->height - 1 - y));
        f->pixels++;
    }
    if (!f->pixels)
        return;
    const int width = f->width;
    f->width -= 2 * margin_x;
    f->height -= 2 * margin_y;
    for (int y = 0; y < f->height; y++)
        memmove(core + y * f->width, core + (y + margin_y) * width + margin_x, (size_t)f->width);
}

/* Lists the core's runs; false if memory ran out. */
static bool list_runs(tm_family *f, const uint8_t *core)
{
    f->runs = malloc((size_t)f->pixels * sizeof *f->runs);
    if (!f->runs)
        return false;
    for (int y = 0; y < f->height; y++) {
        for (int x = 0; x < f->width; x++) {
            const uint8_t *at = core + y * f->width + x;
            if (!*at)
                continue;
            if (x == 0 || !at[-1])
                f->runs[f->run_count++] = (tm_family_run){.y = y, .x = x};
            f->runs[f->run_count - 1].end = x + 1;
        }
    }
    return true;
}

/* Finds the core; without pixels where it is too large. False if memory ran out. */
static bool shape(tm_family *f, const tm_posed *members)
{
    int64_t width = INT64_MAX, height = INT64_MAX;

    for (int i = 0; i < f->count; i++) {
        width = smaller(width, members[i].width);
        height = smaller(height, members[i].height);
    }
    if (height > TM_FAMILY_ROWS || width * height > TM_FAMILY_PIXELS)
        return true;
    f->width = (int)width;
    f->height = (int)height;
    uint8_t *core = malloc((size_t)(width * height));
    if (!core)
        return false;
    find_core(f, core, members);
    const bool good = !f->pixels || list_runs(f, core);
    free(core);
    return good;
}

/* Writes the member's pixels in the core, less their mean, with norm 1; false where they are flat. */
static bool read_member(const tm_family *f, const tm_posed *p, double *to)
{
    const int64_t left = (p->width - f->width) / 2, top = (p->height - f->height) / 2;
    double sum = 0, square = 0;
    int64_t n = 0;

    for (int i = 0; i < f->run_count; i++) {
        const tm_family_run *r = &f->runs[i];
        for (int x = r->x; x < r->end; x++)
            sum += to[n++] = p->samples[(top + r->y) * p->width + left + x];
    }
    for (int64_t i = 0; i < n; i++) {
        to[i] -= sum / (double)n;
        square += to[i] * to[i];
    }
    if (square < 1e-3)
        return false;
    for (int64_t i = 0; i < n; i++)
        to[i] /= sqrt(square);
    return true;
}

/* Rounds a component to taps of 8 bits and sum 0. */
static void round_component(int8_t *taps, const double *component, int64_t n)
{
    double most = 0;
    int64_t sum = 0;

    for (int64_t i = 0; i < n; i++)
        most = fmax(most, fabs(component[i]));
    for (int64_t i = 0; i < n; i++) {
        taps[i] = (int8_t)(most > 0 ? lrint(component[i] * 126 / most) : 0);
        sum += taps[i];
    }
    for (int64_t i = 0; sum; i = (i + 1) % n) {
        const int step = sum > 0 ? 1 : -1;
        if (abs(taps[i] - step) > 127)
            continue;
        taps[i] = (int8_t)(taps[i] - step);
        sum -= step;
    }
}

static void store_taps(tm_family *f, const int8_t *taps, int index)
{
    uint8_t *to = f->samples + (int64_t)index * f->width * f->height;
    int64_t n = 0;

    memset(to, 128, (size_t)f->width * (size_t)f->height);
    for (int i = 0; i < f->run_count; i++) {
        const tm_family_run *r = &f->runs[i];
        for (int x = r->x; x < r->end; x++)
            to[r->y * f->width + x] = (uint8_t)(taps[n++] + 128);
    }
}

/* The inverse of the lower Cholesky factor of the taps' products, in *solve; those that depend on the
 * ones before get rows of 0. */
static void invert_factor(const double *taps, int count, int64_t n,
                          double solve[TM_FAMILY_BASIS][TM_FAMILY_BASIS])
{
    double factor[TM_FAMILY_BASIS][TM_FAMILY_BASIS] = {{0}};

    memset(solve, 0, sizeof(double) * TM_FAMILY_BASIS * TM_FAMILY_BASIS);
    for (int i = 0; i < count; i++) {
        double square = tm_dot(taps + i * n, taps + i * n, n);
        const double whole = square;
        for (int j = 0; j < i; j++) {
            double part = tm_dot(taps + i * n, taps + j * n, n);
            for (int k = 0; k < j; k++)
                part -= factor[i][k] * factor[j][k];
            factor[i][j] = factor[j][j] > 0 ? part / factor[j][j] : 0;
            square -= factor[i][j] * factor[i][j];
        }
        if (square <= 0.01 * whole || whole == 0)
            continue;
        factor[i][i] = sqrt(square);
        solve[i][i] = 1 / factor[i][i];
        for (int j = 0; j < i; j++) {
            double sum = 0;
            for (int k = j; k < i; k++)
                sum += factor[i][k] * solve[k][j];
            solve[i][j] = -sum / factor[i][i];
        }
    }
}

/* Puts the two rows of a pair side by side whose greatest length together is least for what they are
 * alone: a turn's sine and cosine. */
static void pair_up(const double *coordinates, int basis, int count, int *order)
{
    bool used[TM_FAMILY_BASIS] = {false};
    int at = 0;

    for (int i = 0; i < basis; i++) {
        double least = INFINITY;
        int other = -1;
        if (used[i])
            continue;
        used[i] = true;
        for (int j = i + 1; j < basis; j++) {
            double alone_i = 0, alone_j = 0, both = 0;
            if (used[j])
                continue;
            for (int a = 0; a < count; a++) {
                const double x = coordinates[i * count + a], y = coordinates[j * count + a];
                alone_i = fmax(alone_i, x * x);
                alone_j = fmax(alone_j, y * y);
                both = fmax(both, x * x + y * y);
            }
            const double loss = sqrt(both) - 0.5 * (sqrt(alone_i) + sqrt(alone_j));
            if (loss < least) {
                least = loss;
                other = j;
            }
        }
        order[at++] = i;
        if (other >= 0) {
            used[other] = true;
            order[at++] = other;
        }
    }
}

/* What make needs room for. */
typedef struct workshop {
    double *members; /* the core's pixels of each */
    double *gram, *weights, *next;
    double *components, *coordinates, *taps;
    int8_t *rounded;
    int size;        /* members that the basis is made of */
} workshop;

static bool open_workshop(workshop *w, const tm_family *f)
{
    const size_t n = (size_t)f->pixels, size = (size_t)w->size, unit = sizeof(double);

    w->members = malloc(n * size * unit);
    w->gram = malloc(size * size * unit);
    w->weights = malloc(TM_FAMILY_BASIS * size * unit);
    w->next = malloc(TM_FAMILY_BASIS * size * unit);
    w->components = calloc(TM_FAMILY_BASIS * n, unit);
    w->taps = calloc(TM_FAMILY_BASIS * n, unit);
    w->coordinates = malloc(TM_FAMILY_BASIS * (size_t)f->count * unit);
    w->rounded = malloc(TM_FAMILY_BASIS * n);
    return w->members && w->gram && w->weights && w->next && w->components && w->taps &&
           w->coordinates && w->rounded;
}

static void close_workshop(workshop *w)
{
    free(w->members);
    free(w->gram);
    free(w->weights);
    free(w->next);
    free(w->components);
    free(w->taps);
    free(w->coordinates);
    free(w->rounded);
}

/* False where a member is flat. */
static bool make_components(const tm_family *f, workshop *w, const tm_posed *members)
{
    const int64_t n = f->pixels;
    const int size = w->size;

    for (int i = 0; i < size; i++) {
        if (!read_member(f, &members[(int64_t)i * f->count / size], w->members + i * n))
            return false;
        for (int j = 0; j <= i; j++)
            w->gram[i * size + j] = w->gram[j * size + i] =
                tm_dot(w->members + i * n, w->members + j * n, n);
    }
    tm_components_find(w->weights, w->next, w->gram, f->basis, size);
    for (int k = 0; k < f->basis; k++) {
        for (int i = 0; i < size; i++) {
            const double weight = w->weights[k * size + i];
            for (int64_t x = 0; x < n; x++)
                w->components[k * n + x] += weight * w->members[i * n + x];
        }
        round_component(w->rounded + k * n, w->components + k * n, n);
        for (int64_t x = 0; x < n; x++)
            w->taps[k * n + x] = w->rounded[k * n + x];
    }
    return true;
}

/* Each member's coordinates; false where it is flat. */
static bool make_coordinates(const tm_family *f, workshop *w, const tm_posed *members)
{
    double solve[TM_FAMILY_BASIS][TM_FAMILY_BASIS];

    invert_factor(w->taps, f->basis, f->pixels, solve);
    for (int a = 0; a < f->count; a++) {
        double products[TM_FAMILY_BASIS];
        if (!read_member(f, &members[a], w->members))
            return false;
        for (int k = 0; k < f->basis; k++) {
            double sum = 0;
            products[k] = tm_dot(w->members, w->taps + k * f->pixels, f->pixels);
            for (int j = 0; j <= k; j++)
                sum += solve[k][j] * products[j];
            w->coordinates[k * f->count + a] = sum;
        }
    }
    return true;
}

static void reorder_taps(const tm_family *f, workshop *w, const int *order)
{
    const int64_t n = f->pixels;
    for (int k = 0; k < f->basis; k++) {
        for (int64_t x = 0; x < n; x++)
            w->taps[k * n + x] = w->rounded[order[k] * n + x];
    }
}

static void store(tm_family *f, const workshop *w)
{
    double solve[TM_FAMILY_BASIS][TM_FAMILY_BASIS], squares = 0;

    invert_factor(w->taps, f->basis, f->pixels, solve);
    double error_sq = 0;
    for (int i = 0; i < f->basis; i++) {
        double terms = 0; /* |z| <= |q| |f| */
        for (int j = 0; j <= i; j++) {
            f->solve[i][j] = (float)solve[i][j];
            terms += fabs(solve[i][j]) * sqrt(tm_dot(w->taps + j * f->pixels, w->taps + j * f->pixels, f->pixels));
        }
        error_sq += terms * terms;
    }
    f->error = (float)(TERM_ERROR * sqrt(error_sq));
    for (int a = 0; a < f->padded; a++) {
        double rest_sq = 1;
        for (int k = 0; k < f->basis; k++) {
            const double c = a < f->count ? w->coordinates[k * f->count + a] : 0;
            f->coordinates[k * f->padded + a] = (float)c;
            rest_sq -= c * c;
        }
        const double rest = sqrt(fmax(0, rest_sq)) + ROUNDING;
        f->coordinates[f->basis * f->padded + a] = a < f->count ? (float)rest : -2;
        if (a < f->count) {
            f->rest = fmaxf(f->rest, (float)rest);
            squares += rest * rest;
        }
    }
    f->rest_rms = sqrt(squares / f->count);
    for (int k = 0; k < f->basis; k += 2) {
        for (int a = 0; a < f->count; a++)
            f->radius[k / 2] = fmaxf(f->radius[k / 2], hypotf(f->coordinates[k * f->padded + a],
                                                             f->coordinates[(k + 1) * f->padded + a]));
    }
}

static tm_status fill(tm_family *f, const tm_posed *members, bool *good)
{
    workshop w = {.size = (int)smaller(f->count, MOST_SAMPLES)};
    int order[TM_FAMILY_BASIS];
    tm_status status = TM_ERR_MEMORY;

    f->padded = (int)round_up(f->count, TM_FAMILY_UNIT);
    f->samples = malloc((size_t)f->basis * (size_t)f->width * (size_t)f->height);
    f->coordinates = aligned_alloc(64, (size_t)round_up((f->basis + 1) * (int64_t)f->padded * 4, 64));
    if (f->samples && f->coordinates && open_workshop(&w, f)) {
        status = TM_OK;
        *good = make_components(f, &w, members) && make_coordinates(f, &w, members);
        if (*good) {
            pair_up(w.coordinates, f->basis, f->count, order);
            for (int k = 0; k < f->basis; k++)
                store_taps(f, w.rounded + order[k] * f->pixels, k);
            reorder_taps(f, &w, order);
            *good = make_coordinates(f, &w, members);
            store(f, &w);
        }
    }
    close_workshop(&w);
    return status;
}

tm_status tm_family_make(tm_family *family, const tm_posed *members, size_t count, int basis)
{
    tm_family f = {.count = (int)count};
    bool good = false;

    *family = (tm_family){0};
    if (count == 0 || count > INT32_MAX / 64)
        return TM_OK;
    tm_status status = shape(&f, members) ? TM_OK : TM_ERR_MEMORY;
    if (status == TM_OK && f.pixels >= LEAST_PIXELS) {
        f.basis = (int)smaller(smaller(basis, TM_FAMILY_BASIS), smaller(f.pixels - 1, (int64_t)count)) & ~1;
        if (f.basis >= 2)
            status = fill(&f, members, &good);
    }
    if (status == TM_OK && good)
        *family = f;
    else
        tm_family_free(&f);
    return status;
}

void tm_family_free(tm_family *f)
{
    free(f->runs);
    free(f->samples);
    free(f->coordinates);
    *f = (tm_family){0};
}
