/* SPDX-License-Identifier: MIT */
/* The basis of a family, and what its members are in it. */
#include "lcc/family.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "integers.h"
#include "lcc/components.h"
#include "lcc/family_chain.h"
#include "lcc/family_halves.h"

enum {
    MOST_SAMPLES = 192,   /* members that the basis is made of */
    PIXELS_AT_ONCE = 128,
    FIRST_BASIS = 24, /* of TM_FAMILY_BASIS */
};

/* Coordinates are made in double precision of exact sums, so that the rests are good to 1e-7 where their
 * squares nearly vanish, too. */
#define ROUNDING 4e-7

/* A product with the inverse factor in binary32: each of up to TM_FAMILY_BASIS terms is off by so much
 * of itself at most, with what was rounded before. */
#define TERM_ERROR (40 * 0x1p-24)

/* What making a basis needs room for. */
typedef struct workshop {
    const tm_posed *posed;
    int16_t *members; /* the core's pixels of those that the basis is made of, and room for one more */
    tm_family_sums *sums; /* likewise */
    double *gram, *weights, *next;
    float *components;
    int16_t *taps; /* the components, rounded */
    double *products, *coordinates;
    double taps_gram[TM_FAMILY_BASIS][TM_FAMILY_BASIS]; /* exact */
    double solve[TM_FAMILY_BASIS][TM_FAMILY_BASIS];
    int size; /* members that the basis is made of, or parts of half as many */
} workshop;

static bool open_workshop(workshop *w, const tm_family *f)
{
    const size_t n = (size_t)f->pixels, size = (size_t)w->size, unit = sizeof(double);

    w->members = malloc(n * (size + 1) * sizeof *w->members);
    w->sums = malloc((size + 1) * sizeof *w->sums);
    w->gram = malloc(size * size * unit);
    w->weights = malloc(TM_FAMILY_BASIS * size * unit);
    w->next = malloc(2 * TM_FAMILY_BASIS * size * unit);
    w->components = malloc(TM_FAMILY_BASIS * n * sizeof *w->components);
    w->taps = malloc(TM_FAMILY_BASIS * n * sizeof *w->taps);
    w->products = malloc(TM_FAMILY_BASIS * (size_t)f->count * unit);
    w->coordinates = malloc(TM_FAMILY_BASIS * (size_t)f->count * unit);
    return w->members && w->sums && w->gram && w->weights && w->next && w->components && w->taps && w->products &&
           w->coordinates;
}

static void close_workshop(workshop *w)
{
    free(w->members);
    free(w->sums);
    free(w->gram);
    free(w->weights);
    free(w->next);
    free(w->components);
    free(w->taps);
    free(w->products);
    free(w->coordinates);
}

/* Reads the members that the basis is made of; false where one is flat. */
static bool read_members(const tm_family *f, workshop *w)
{
    const int64_t n = f->pixels;
    const int size = w->size;

    if (f->half_turns)
        return tm_family_read_halves(f, w->posed, w->members, w->sums, w->gram, size / 2);
    for (int i = 0; i < size; i++) {
        double *row = w->gram + i * size;
        if (!tm_family_read(f, &w->posed[(int64_t)i * f->count / size], w->members + i * n, &w->sums[i]))
            return false;
        tm_whole_dots(row, w->members + i * n, w->members, i + 1, n);
        for (int j = 0; j <= i; j++) {
            row[j] = (row[j] - w->sums[i].sum * w->sums[j].sum / (double)n) / (w->sums[i].length * w->sums[j].length);
            w->gram[j * size + i] = row[j];
        }
    }
    return true;
}

/* Rounds a component to taps of 8 bits and sum 0, whose products with samples fit 32 bits: as any number may be taken off
 * these, they are at most 128 units. */
static void round_component(int16_t *taps, const float *component, const tm_family *f, bool odd)
{
    const int64_t n = f->pixels;
    const int unit = f->unit;
    float most = 0;
    double all = 1;

    for (int64_t i = 0; i < n; i++) {
        most = fmaxf(most, fabsf(component[i]));
        all += fabsf(component[i]);
    }
    const double fits = (double)INT32_MAX / 128 / fmax(unit, 1) - 2 * (double)n; /* rounding adds less than n twice */
    const float scale = most > 0 ? fminf(126 / most, fmaxf(0, (float)(0.999 * fits / all))) : 0;
    if (f->half_turns) {
        tm_family_round_halves(taps, component, n, scale * 124 / 126, odd);
        return;
    }
    for (int64_t i = 0; i < n; i++)
        taps[i] = (int16_t)lrintf(component[i] * scale);
    tm_taps_balance(taps, n);
}

/* Adds the members' part from begin on, of norm 1 and less their means, to the basis's components. */
static void sum_part(const tm_family *f, const workshop *w, int64_t begin, int64_t count)
{
    float pixels[PIXELS_AT_ONCE];

    for (int i = 0; i < w->size; i++) {
        const int16_t *member = w->members + i * f->pixels + begin;
        const float mean = (float)(w->sums[i].sum / (double)f->pixels);
        for (int64_t x = 0; x < count; x++)
            pixels[x] = member[x] - mean;
        for (int k = 0; k < f->basis; k++) {
            const float weight = (float)(w->weights[k * w->size + i] / w->sums[i].length);
            float *component = w->components + k * f->pixels + begin;
            for (int64_t x = 0; x < count; x++)
                component[x] += weight * pixels[x];
        }
    }
}

/* Makes as many taps as the basis has, and their products with each other. */
static void make_taps(tm_family *f, workshop *w)
{
    const int64_t n = f->pixels;

    if (f->half_turns)
        f->odd = tm_family_find_halves(w->weights, w->next, w->gram, f->basis, w->size / 2);
    else
        tm_components_find(w->weights, w->next, w->gram, f->basis, w->size);
    memset(w->components, 0, (size_t)(f->basis * n) * sizeof *w->components);
    for (int64_t begin = 0; begin < n; begin += PIXELS_AT_ONCE) /* which stay in the cache */
        sum_part(f, w, begin, smaller(PIXELS_AT_ONCE, n - begin));
    for (int k = 0; k < f->basis; k++) {
        round_component(w->taps + k * n, w->components + k * n, f, f->odd >> k & 1);
        tm_whole_dots(w->taps_gram[k], w->taps + k * n, w->taps, k + 1, n);
        for (int j = 0; j < k; j++)
            w->taps_gram[j][k] = w->taps_gram[k][j];
    }
}

/* The products of all members, of norm 1, with the taps; false where one is flat. */
static bool make_products(const tm_family *f, workshop *w)
{
    const int64_t n = f->pixels;

    for (int a = 0; a < f->count; a++) {
        const int at = w->size == f->count && !f->half_turns ? a : w->size;
        double *products = w->products + (int64_t)a * f->basis;
        if (at == w->size && !tm_family_read(f, &w->posed[a], w->members + at * n, &w->sums[at]))
            return false;
        tm_whole_dots(products, w->members + at * n, w->taps, f->basis, n);
        for (int k = 0; k < f->basis; k++) /* the taps' sum is 0, so the mean adds nothing */
            products[k] /= w->sums[at].length;
    }
    return true;
}

/* Each member's coordinates in the basis that the taps make in this order. */
static void make_coordinates(const tm_family *f, workshop *w, const int *order)
{
    double gram[TM_FAMILY_BASIS][TM_FAMILY_BASIS];

    for (int k = 0; k < f->basis; k++) {
        for (int j = 0; j <= k; j++)
            gram[k][j] = w->taps_gram[order[k]][order[j]];
    }
    tm_factor_invert(gram, f->basis, w->solve);
    for (int a = 0; a < f->count; a++) {
        const double *products = w->products + (int64_t)a * f->basis;
        for (int k = 0; k < f->basis; k++) {
            double sum = 0;
            for (int j = 0; j <= k; j++)
                sum += w->solve[k][j] * products[order[j]];
            w->coordinates[(int64_t)k * f->count + a] = sum;
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

/* Room for a basis and coordinates of this size. */
static bool make_room(tm_family *f)
{
    free(f->samples);
    free(f->coordinates);
    f->padded = (int)round_up(f->count, TM_FAMILY_UNIT);
    f->samples = malloc((size_t)f->basis * (size_t)f->width * (size_t)f->height);
    f->coordinates = tm_family_make_coordinates(f);
    return f->samples && f->coordinates;
}

static void store_taps(tm_family *f, const int16_t *taps, int index)
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

static void store_solve(tm_family *f, const workshop *w, const int *order)
{
    double error_sq = 0;

    for (int i = 0; i < f->basis; i++) {
        double terms = 0; /* |z| <= |q| |f| */
        for (int j = 0; j <= i; j++) {
            f->solve[i][j] = (float)w->solve[i][j];
            terms += fabs(w->solve[i][j]) * sqrt(w->taps_gram[order[j]][order[j]]);
        }
        error_sq += terms * terms;
    }
    f->error = (float)(TERM_ERROR * sqrt(error_sq));
}

static void store_coordinates(tm_family *f, const workshop *w)
{
    double squares = 0;

    f->rest = 0;
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
        float *radius = &f->radius[k / 2];
        *radius = 0;
        for (int a = 0; a < f->count; a++)
            *radius = fmaxf(*radius, hypotf(f->coordinates[k * f->padded + a],
                                            f->coordinates[(k + 1) * f->padded + a]));
    }
}

/* Makes a basis of f->basis templates. *good becomes false where a member is flat. */
static tm_status make_basis(tm_family *f, workshop *w, bool *good)
{
    int order[TM_FAMILY_BASIS];

    if (!make_room(f))
        return TM_ERR_MEMORY;
    for (int k = 0; k < f->basis; k++)
        order[k] = k;
    make_taps(f, w);
    *good = make_products(f, w);
    if (!*good)
        return TM_OK;
    make_coordinates(f, w, order);
    pair_up(w->coordinates, f->basis, f->count, order);
    make_coordinates(f, w, order);
    const uint32_t odd = f->odd;
    f->odd = 0;
    for (int k = 0; k < f->basis; k++) {
        store_taps(f, w->taps + order[k] * f->pixels, k);
        f->odd |= (odd >> order[k] & 1) << k;
    }
    store_solve(f, w, order);
    store_coordinates(f, w);
    return TM_OK;
}

/* The family by a part of its basis. */
static tm_status make_first(tm_family *f, const workshop *w)
{
    f->first = malloc(sizeof *f->first);
    if (!f->first)
        return TM_ERR_MEMORY;
    *f->first = *f;
    f->first->chain = f->first->first = NULL;
    f->first->basis = FIRST_BASIS;
    f->first->coordinates = tm_family_make_coordinates(f->first);
    if (!f->first->coordinates)
        return TM_ERR_MEMORY;
    store_coordinates(f->first, w);
    return tm_family_make_chain(f->first);
}

tm_status tm_family_finish(tm_family *f, const tm_posed *members, int basis, double rest)
{
    const int most = (int)smaller(smaller(TM_FAMILY_BASIS, f->pixels - 1), f->count + 1) & ~1;
    workshop w = {.posed = members, .size = (int)smaller(f->count, MOST_SAMPLES)};
    tm_status status = TM_OK;

    if (!f->count)
        return TM_OK;
    f->half_turns = f->half_turns && tm_family_has_half_turns(f);
    if (f->half_turns)
        w.size = 2 * (int)smaller(f->count, MOST_SAMPLES / 2);
    if (!open_workshop(&w, f))
        status = TM_ERR_MEMORY;
    bool good = status == TM_OK && read_members(f, &w);
    f->basis = (int)smaller(basis & ~1, most);
    if (good)
        status = make_basis(f, &w, &good);
    while (status == TM_OK && good && f->rest_rms > rest && f->basis < most) {
        f->basis = (int)smaller(2 * f->basis, most);
        status = make_basis(f, &w, &good);
    }
    if (status == TM_OK && good)
        status = tm_family_make_chain(f);
    if (status == TM_OK && good && f->basis == TM_FAMILY_BASIS)
        status = make_first(f, &w);
    close_workshop(&w);
    if (status != TM_OK || !good)
        tm_family_free(f);
    return status;
}

tm_status tm_family_make(tm_family *family, const tm_posed *members, size_t count, int basis)
{
    const tm_status status = tm_family_begin(family, members, count);
    return status == TM_OK ? tm_family_finish(family, members, basis, INFINITY) : status;
}
