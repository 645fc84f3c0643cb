/* SPDX-License-Identifier: MIT */
/* The method of Gauss and Newton, after B. Lucas and T. Kanade, An iterative image registration technique, IJCAI 1981. It
 * interpolates the template, by cubic convolution (R. Keys, IEEE Trans. ASSP 29, 1981), and takes the frame's samples as
 * they are: an interpolated frame has less noise between its pixels, which draws places there. Besides sums and
 * products there are square roots and quotients alone, so that the bits are the same on every machine. */
#include "match/pose_fit.h"

#include <math.h>

#include "integers.h"

enum { ACROSS, DOWN, ANGLE, SCALE, MOVES, TEMPLATE = MOVES, FRAME, COLUMNS };

enum {
    MOST_STEPS = 10,
    MOST_SAMPLES = 8192,  /* of the template, in a step; of larger ones every n-th column and row is taken, */
    ENOUGH_PIXELS = 512,  /* but so many pixels, however many samples each has */
    LEAST_PIXELS = 32,
    LEAST_SIDE = 4, /* of a template: neighbours that are interpolated */
};

/* Pixels: which step is no longer taken, and how far a match is moved at most. */
#define SMALL_MOVE 5e-4
#define MOST_MOVE 2.0

/* A match is off by about so many pixels, and steps of angle and scale. What the pixels do not tell stays, therefore. */
#define EXPECTED 1.0

#define MOST_TURN 0.4 /* radians */

/* Products of what a step knows of each pixel: how the template moves there, the template, and the frame. */
typedef struct sums {
    double products[COLUMNS][COLUMNS], of_channel[TM_MAX_CHANNELS][COLUMNS];
    int64_t pixels;
} sums;

/* The kind of the samples. */
typedef struct kind {
    int channels;
    bool wide; /* 16 bits */
} kind;

typedef struct fitting {
    const tm_pose_fit *fit;
    kind of;
    double radius;                /* from the centre to a corner of the template */
    double cosine, sine, scale;   /* of the match */
    double moved[MOVES];          /* pixels; angle and scale by what they move a corner */
    double half_turn;             /* tangent of half of the angle moved by */
    double expected[MOVES];
    int64_t parts;                /* samples of a pixel, each way */
    int64_t across, down;         /* every n-th column and row */
} fitting;

/* The weights of four neighbours, and how these change. */
typedef struct weights {
    double value[4], slope[4];
} weights;

static inline weights weights_at(double t)
{
    const double t2 = t * t, t3 = t2 * t;
    return (weights){{-0.5 * t3 + t2 - 0.5 * t, 1.5 * t3 - 2.5 * t2 + 1, -1.5 * t3 + 2 * t2 + 0.5 * t, 0.5 * t3 - 0.5 * t2},
                     {-1.5 * t2 + 2 * t - 0.5, 4.5 * t2 - 5 * t, -4.5 * t2 + 4 * t + 0.5, 1.5 * t2 - t}};
}

static inline double sample_of(const tm_image *image, int64_t x, int64_t y, int channel, kind of)
{
    const uint8_t *row = image->samples + y * image->stride;
    const int64_t at = x * of.channels + channel;
    return of.wide ? ((const uint16_t *)(const void *)row)[at] : row[at];
}

static bool counts(const tm_image *image, int64_t x, int64_t y)
{
    return !image->mask || image->mask[y * image->mask_stride + x];
}

/* What the template has at a place, and how that changes to the right and down. */
typedef struct sample {
    double value, across, down;
} sample;

/* Adds the template's samples at a place of it. False where one that is needed does not count. */
static inline bool add_samples(const fitting *f, double u, double v, kind of, sample *to)
{
    const tm_image *t = f->fit->tmpl;

    if (!(u >= 1 && v >= 1 && u <= (double)(t->width - 2) && v <= (double)(t->height - 2)))
        return false;
    const int64_t x = smaller((int64_t)u, t->width - 3), y = smaller((int64_t)v, t->height - 3);
    for (int i = 0; t->mask && i < 16; i++) {
        if (!counts(t, x - 1 + i % 4, y - 1 + i / 4))
            return false;
    }
    const weights right = weights_at(u - (double)x), below = weights_at(v - (double)y);
    for (int c = 0; c < of.channels; c++) {
        for (int j = 0; j < 4; j++) {
            double value = 0, slope = 0;
            for (int i = 0; i < 4; i++) {
                const double s = sample_of(t, x - 1 + i, y - 1 + j, c, of);
                value += right.value[i] * s;
                slope += right.slope[i] * s;
            }
            to[c].value += below.value[j] * value;
            to[c].across += below.value[j] * slope;
            to[c].down += below.slope[j] * value;
        }
    }
    return true;
}

/* A turn and a size. */
typedef struct pose {
    double cosine, sine, scale;
} pose;

static pose pose_now(const fitting *f)
{
    const double t = f->half_turn, whole = 1 + t * t, c = (1 - t * t) / whole, s = 2 * t / whole;
    return (pose){f->cosine * c - f->sine * s, f->sine * c + f->cosine * s, f->scale + f->moved[SCALE] / f->radius};
}

/* Adds a pixel of the frame. */
static inline void add_pixel(sums *to, const fitting *f, const pose *at, int64_t x, int64_t y, kind of)
{
    const tm_image *t = f->fit->tmpl;
    sample samples[TM_MAX_CHANNELS] = {{0}};
    const double part = 1 / (double)f->parts, share = part * part;
    const double dx = (double)x - f->fit->center_x - f->moved[ACROSS], dy = (double)y - f->fit->center_y - f->moved[DOWN];
    const double u = (dx * at->cosine - dy * at->sine) / at->scale, v = (dx * at->sine + dy * at->cosine) / at->scale;

    for (int64_t i = 0; i < f->parts * f->parts; i++) {
        const double sx = ((double)(i % f->parts) + 0.5) * part - 0.5, sy = ((double)(i / f->parts) + 0.5) * part - 0.5;
        if (!add_samples(f, u + (sx * at->cosine - sy * at->sine) / at->scale + (double)(t->width - 1) / 2,
                         v + (sx * at->sine + sy * at->cosine) / at->scale + (double)(t->height - 1) / 2, of, samples))
            return;
    }
    for (int c = 0; c < of.channels; c++) {
        const double across = samples[c].across * share, down = samples[c].down * share;
        const double column[COLUMNS] = {-(across * at->cosine + down * at->sine) / at->scale,
                                        (across * at->sine - down * at->cosine) / at->scale,
                                        (down * u - across * v) / f->radius,
                                        -(across * u + down * v) / (at->scale * f->radius),
                                        samples[c].value * share,
                                        sample_of(f->fit->frame, x, y, c, of)};
        for (int i = 0; i < COLUMNS; i++) {
            to->of_channel[c][i] += column[i];
            for (int j = 0; j <= i; j++)
                to->products[i][j] += column[i] * column[j];
        }
    }
    to->pixels++;
}

static bool in_disc(const tm_pose_fit *fit, int64_t x, int64_t y)
{
    const double dx = 2 * ((double)x - fit->center_x), dy = 2 * ((double)y - fit->center_y);
    return !fit->disc || dx * dx + dy * dy < (double)fit->disc;
}

/* Rows and columns of the frame. */
typedef struct region {
    int64_t left, top, right, bottom;
} region;

/* Half of the upright box that holds the turned template. */
static void reach_of(const fitting *f, const pose *at, double *across, double *down)
{
    const double w = (double)f->fit->tmpl->width / 2, h = (double)f->fit->tmpl->height / 2;
    *across = at->scale * (w * fabs(at->cosine) + h * fabs(at->sine));
    *down = at->scale * (w * fabs(at->sine) + h * fabs(at->cosine));
}

/* Steps keep to the same rows, as to the same columns, whose correlations are compared. */
static region region_of(const fitting *f, const pose *at)
{
    const tm_pose_fit *fit = f->fit;
    const double x = fit->center_x + f->moved[ACROSS], y = fit->center_y + f->moved[DOWN];
    double across, down;

    reach_of(f, at, &across, &down);
    return (region){larger(0, (int64_t)(x - across)), larger(0, (int64_t)(y - down)) / f->down * f->down,
                    smaller(fit->frame->width, (int64_t)(x + across) + 2), smaller(fit->frame->height, (int64_t)(y + down) + 2)};
}

/* Narrows [*left, *right] to about where 0 <= at + slope * (x - from) <= most. */
static void narrow(double *left, double *right, double from, double at, double slope, double most)
{
    if (fabs(slope) < 1e-9)
        return;
    const double first = from - at / slope, last = from + (most - at) / slope;
    *left = fmax(*left, fmin(first, last) - 1);
    *right = fmin(*right, fmax(first, last) + 1);
}

/* Adds those pixels of a row that may lie in the template. */
static inline void add_row(sums *to, const fitting *f, const pose *at, const region *r, int64_t y, kind of)
{
    const tm_pose_fit *fit = f->fit;
    const double middle = fit->center_x + f->moved[ACROSS], dy = (double)y - fit->center_y - f->moved[DOWN];
    const double w = (double)(fit->tmpl->width - 1), h = (double)(fit->tmpl->height - 1);
    double left = (double)r->left, right = (double)r->right;

    narrow(&left, &right, middle, w / 2 - dy * at->sine / at->scale, at->cosine / at->scale, w);
    narrow(&left, &right, middle, h / 2 + dy * at->cosine / at->scale, at->sine / at->scale, h);
    if (!(left < right))
        return;
    for (int64_t x = (int64_t)left / f->across * f->across; x < (int64_t)right; x += f->across) {
        if (in_disc(fit, x, y) && counts(fit->frame, x, y))
            add_pixel(to, f, at, x, y, of);
    }
}

static inline void add_region(sums *to, const fitting *f, kind of)
{
    const pose at = pose_now(f);
    const region r = region_of(f, &at);

    for (int64_t y = r.top; y < r.bottom; y += f->down)
        add_row(to, f, &at, &r, y, of);
}

/* Adds all pixels, each channel without its mean. */
static void add_pixels(sums *to, const fitting *f)
{
    *to = (sums){.pixels = 0};
    if (f->of.channels == 1 && !f->of.wide) /* what is usual, by code of its own */
        add_region(to, f, (kind){1, false});
    else
        add_region(to, f, f->of);
    for (int c = 0; c < f->of.channels && to->pixels; c++) {
        for (int i = 0; i < COLUMNS; i++) {
            for (int j = 0; j <= i; j++)
                to->products[i][j] -= to->of_channel[c][i] * to->of_channel[c][j] / (double)to->pixels;
        }
    }
}

/* L of L Lᵀ, a symmetric matrix of which the lower triangle is there. False where it is not positive definite. */
static bool decompose(double l[MOVES][MOVES])
{
    for (int i = 0; i < MOVES; i++) {
        for (int j = 0; j <= i; j++) {
            double sum = l[i][j];
            for (int k = 0; k < j; k++)
                sum -= l[i][k] * l[j][k];
            if (i == j && !(sum > 1e-12 * l[i][i]))
                return false;
            l[i][j] = i == j ? sqrt(sum) : sum / l[j][j];
        }
    }
    return true;
}

static void solve(double l[MOVES][MOVES], double v[MOVES])
{
    for (int i = 0; i < MOVES; i++) {
        for (int k = 0; k < i; k++)
            v[i] -= l[i][k] * v[k];
        v[i] /= l[i][i];
    }
    for (int i = MOVES - 1; i >= 0; i--) {
        for (int k = i + 1; k < MOVES; k++)
            v[i] -= l[k][i] * v[k];
        v[i] /= l[i][i];
    }
}

/* The squared correlation of the template with the frame, times its sign; less than -1 where there is none. */
static double correlation(const sums *s)
{
    const double cross = s->products[FRAME][TEMPLATE], all = s->products[TEMPLATE][TEMPLATE] * s->products[FRAME][FRAME];
    return all > 0 ? cross * fabs(cross) / all : -2;
}

/* Solves for a step, and finds the squared standard error after it. The gain and what it makes of the template are taken off;
 * what is expected of moves counts as pixels that say that there is none. */
static bool find_step(const fitting *f, const sums *s, double step[MOVES], double *error)
{
    const double tt = s->products[TEMPLATE][TEMPLATE], gain = s->products[FRAME][TEMPLATE] / tt;
    const double rest = s->products[FRAME][FRAME] - gain * s->products[FRAME][TEMPLATE];
    const double variance = fmax(rest, 0) / (double)((s->pixels - 1) * f->of.channels - 1 - MOVES);
    double l[MOVES][MOVES];

    for (int i = 0; i < MOVES; i++) {
        const double own = s->products[TEMPLATE][i], weight = f->expected[i] > 0 ? variance / (f->expected[i] * f->expected[i]) : 0;
        for (int j = 0; j <= i; j++) {
            const bool moves = f->expected[i] > 0 && f->expected[j] > 0;
            l[i][j] = moves ? gain * gain * (s->products[i][j] - own * s->products[TEMPLATE][j] / tt) : 0;
        }
        l[i][i] += f->expected[i] > 0 ? weight : 1;
        step[i] = f->expected[i] > 0 ? gain * (s->products[FRAME][i] - gain * own) - weight * f->moved[i] : 0;
    }
    if (!decompose(l))
        return false;
    solve(l, step);
    *error = 0;
    for (int i = 0; i < MOVES; i++) {
        double of_one[MOVES] = {0};
        of_one[i] = 1;
        solve(l, of_one);
        *error += f->expected[i] > 0 ? variance * of_one[i] : 0;
    }
    return true;
}

/* The longest of the four ways. */
static double longest_of(const double step[MOVES])
{
    double longest = 0;
    for (int i = 0; i < MOVES; i++)
        longest = fmax(longest, fabs(step[i]));
    return longest;
}

static void take_step(fitting *f, const double step[MOVES])
{
    const double turn = step[ANGLE] / f->radius / 2;

    f->half_turn = (f->half_turn + turn) / (1 - f->half_turn * turn);
    for (int i = 0; i < MOVES; i++)
        f->moved[i] += step[i];
}

static bool is_near(const fitting *f)
{
    const double most_angle = fmin(fmax(MOST_MOVE, f->expected[ANGLE]), MOST_TURN * f->radius);
    const double most_scale = fmin(fmax(MOST_MOVE, f->expected[SCALE]), f->scale * f->radius / 4);
    return fabs(f->moved[ACROSS]) <= MOST_MOVE && fabs(f->moved[DOWN]) <= MOST_MOVE && fabs(f->moved[ANGLE]) <= most_angle &&
           fabs(f->moved[SCALE]) <= most_scale;
}

/* Twice the arc of a small tangent. */
static double angle_of(double t)
{
    double sum = 0, power = t;
    for (int k = 1; k < 40; k += 2, power *= -t * t)
        sum += power / k;
    return 2 * sum;
}

/* Takes fewer columns and rows of a large picture, of whichever there are more. */
static void choose_pixels(fitting *f)
{
    const tm_image *t = f->fit->tmpl;
    const pose at = pose_now(f);
    const double of_pixel = (double)(f->parts * f->parts), most = fmax(MOST_SAMPLES, ENOUGH_PIXELS * of_pixel);
    const double all = (double)t->width * (double)t->height * f->scale * f->scale * of_pixel;
    double across, down;

    reach_of(f, &at, &across, &down);
    f->across = f->down = 1;
    while (all > most * (double)(f->across * f->down))
        *(across * (double)f->down > down * (double)f->across ? &f->across : &f->down) += 1;
}

static fitting begin(const tm_pose_fit *fit)
{
    const double w = (double)fit->tmpl->width, h = (double)fit->tmpl->height, unit = (double)(INT64_C(1) << TM_SINE_BITS);
    fitting f = {.fit = fit,
                 .of = {fit->tmpl->channels ? fit->tmpl->channels : 1, fit->tmpl->type == TM_SAMPLE_U16},
                 .radius = sqrt(w * w + h * h) / 2,
                 .cosine = (double)tm_cosine(fit->turn.angle) / unit,
                 .sine = (double)tm_sine(fit->turn.angle) / unit,
                 .scale = (double)fit->turn.scale / (double)TM_POSE_UNIT,
                 .parts = ceil_div(TM_POSE_UNIT, fit->turn.scale)};

    f.expected[ACROSS] = f.expected[DOWN] = EXPECTED;
    f.expected[ANGLE] = EXPECTED * fit->angle_step * f.radius;
    f.expected[SCALE] = EXPECTED * fit->scale_step * f.radius;
    choose_pixels(&f);
    return f;
}

bool tm_pose_fit_find(tm_pose_move *move, const tm_pose_fit *fit)
{
    if (fit->tmpl->width < LEAST_SIDE || fit->tmpl->height < LEAST_SIDE)
        return false;
    fitting f = begin(fit);
    double step[MOVES], first = -2, last = -2, error = 0;

    for (int i = 0; i < MOST_STEPS; i++) {
        sums s;
        add_pixels(&s, &f);
        last = correlation(&s);
        first = i ? first : last;
        if (s.pixels < LEAST_PIXELS || last < -1 || !find_step(&f, &s, step, &error) || !isfinite(longest_of(step)))
            return false;
        if (longest_of(step) <= SMALL_MOVE)
            break;
        take_step(&f, step);
        if (!is_near(&f))
            return false;
    }
    *move = (tm_pose_move){f.moved[ACROSS], f.moved[DOWN], angle_of(f.half_turn), f.moved[SCALE] / f.radius, sqrt(error), last};
    return last >= first;
}
