/* SPDX-License-Identifier: MIT */
/* Which windows the bound of a certified search lets pass. Instruction sets may let more or fewer
 * pass, but never leave one out that reaches it in exact arithmetic. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "checkasm.h"

static void *allocate(size_t size)
{
    void *memory = aligned_alloc(64, (size + 127) / 64 * 64);
    CHECK(memory);
    return memory;
}

void level_case_make(level_case *l, tm_template *tmpl, int level, int width, bool few)
{
    *l = (level_case){.tmpl = tmpl, .job = {.tmpl = tmpl}, .level = &tmpl->levels.list[level], .width = width};
    const int w = (int)tmpl->width, h = (int)tmpl->height;
    const size_t rows = (size_t)l->level->down;
    const tm_certified_plan plan = {.by = {l->level, few && tm_certified_may_be_few(l->level), 0}};

    l->taps = allocate(tm_certified_taps_size(&l->job, &plan));
    tm_certified_make(&l->certified, &isas[0], &l->job, &plan, l->taps);
    l->columns = ((width + 63) / 64 * 64 + w + 64) / 64 * 64;
    l->stride = l->columns + 2 * TM_BLOCK;
    l->samples = allocate((size_t)(h * l->stride));
    l->prefix = allocate((size_t)l->columns * 4);
    l->prefix_sq = allocate((size_t)l->columns * 4);
    l->prefix_d = allocate((size_t)l->columns * 4);
    l->pairs = allocate(rows * (size_t)l->columns * 4);
    l->squares = allocate((size_t)l->columns * 4);
    l->row = tm_certified_row(&l->certified);
    if (!l->certified.plan.by.few || check_random() & 1) {
        l->row.prefix = l->prefix;
        l->row.prefix_sq = l->prefix_sq;
    }
    if (!l->certified.plan.by.few) {
        l->row.prefix_d = l->prefix_d + l->level->x;
        l->row.squares = l->squares + l->level->x;
    }
    l->row.width = width;
    for (size_t i = 0; i < rows; i++)
        l->row.blocks[i] = l->pairs + i * (size_t)l->columns + l->level->x;
}

void level_case_free(level_case *l)
{
    free(l->taps);
    free(l->samples);
    free(l->prefix);
    free(l->prefix_sq);
    free(l->prefix_d);
    free(l->pairs);
    free(l->squares);
    tm_template_destroy(&l->tmpl);
}

static int64_t block_sum(const level_case *l, int i, int x)
{
    const tm_level *k = l->level;
    int64_t sum = 0;
    for (int y = 0; y < k->block_y; y++) {
        for (int u = 0; u < k->block_x; u++)
            sum += l->samples[(k->y + i * k->block_y + y) * l->stride + x + u] - 128;
    }
    return sum;
}

static int32_t rounded(const level_case *l, int64_t sum)
{
    const int shift = l->level->shift;
    return (int32_t)((sum + (shift ? 1 << (shift - 1) : 0)) >> shift);
}

void level_case_sum(level_case *l)
{
    const tm_level *k = l->level;
    uint32_t sum = (uint32_t)check_random(), sum_sq = (uint32_t)check_random(), sum_d = (uint32_t)check_random();

    memset(l->squares, 0, (size_t)l->columns * 4);
    for (int x = 0; x < l->columns; x++) {
        l->prefix[x] = (int32_t)sum;
        l->prefix_sq[x] = (int32_t)sum_sq;
        l->prefix_d[x] = (int32_t)sum_d;
        for (int y = 0; y < l->tmpl->height; y++) {
            const int g = l->samples[y * l->stride + x] - 128;
            sum += (uint32_t)g;
            sum_sq += (uint32_t)(g * g);
            if (y >= k->y && y < k->y + k->down * k->block_y)
                sum_d += (uint32_t)g;
        }
        for (int i = 0; i < k->down; i++) {
            const int32_t first = rounded(l, block_sum(l, i, x));
            const int32_t second = rounded(l, block_sum(l, i, x + k->block_x));
            l->pairs[i * l->columns + x] = ((uint32_t)first & 0xffff) | (uint32_t)second << 16;
            l->squares[x] += (uint32_t)(first * first) >> l->certified.square_shift;
        }
    }
}

/* What the bound takes of a window, without any rounding but long double's. */
typedef struct exact_window {
    long double p, length, rest;
} exact_window;

static exact_window exact_window_of(const level_case *l, int x)
{
    const tm_level *k = l->level;
    const int w = (int)l->tmpl->width, h = (int)l->tmpl->height, pixels = k->block_x * k->block_y;
    int64_t g = 0, gg = 0, d = 0, squares = 0, product = 0;

    for (int y = 0; y < h; y++) {
        for (int u = 0; u < w; u++) {
            const int sample = l->samples[y * l->stride + x + u] - 128;
            g += sample;
            gg += sample * sample;
        }
    }
    for (int i = 0; i < k->across * k->down; i++) {
        const int64_t sum = block_sum(l, i / k->across, x + k->x + i % k->across * k->block_x);
        d += sum;
        squares += sum * sum;
        product += sum * k->taps[i];
    }
    const long double energy = (long double)(l->tmpl->n * gg - g * g) / (long double)l->tmpl->n;
    const long double blocks = (long double)(k->across * k->down * squares - d * d) /
                               ((long double)(k->across * k->down) * pixels);
    return (exact_window){ldexpl((long double)k->scale * (long double)product, -k->shift), sqrtl(energy),
                          sqrtl(fmaxl(energy - blocks, 0))};
}

static bool must_pass(const level_case *l, const exact_window *window, float least)
{
    return window->p >= (long double)least * window->length - (long double)l->level->rest * window->rest;
}

/* How much least may be for a window to pass, or anything. */
static float draw_least(const level_case *l, const exact_window *windows)
{
    const exact_window *window = &windows[check_random_in(0, l->width - 1)];
    const long double most = (window->p + (long double)l->level->rest * window->rest) / window->length;

    if (check_random() % 4 == 0 || !(most > 0 && most < 1.5L))
        return (float)check_random_in(1, 1 << 20) * 0x1p-20f;
    return nextafterf((float)most, 0);
}

enum { TEMPLATES = 9, LINES = 4 };

/* Noise in several sizes of grain, which blocks show more or less of; a ramp; one sample; two bright
 * cells; lines, of which two are bright. */
static tm_template *draw_template(int64_t kind)
{
    const bool thin = kind == LINES || check_random() % 3 == 0;
    const int64_t a = check_random_in(2, thin ? 400 : 40), b = check_random_in(2, thin ? 8 : 40);
    const int64_t w = kind != LINES && check_random() & 1 ? a : b, h = w == a ? b : a;
    const int64_t grain = kind != LINES && check_random() & 1 ? 1 : check_random_in(2, 12);
    const int64_t across = (w + grain - 1) / grain, down = (h + grain - 1) / grain;
    const int64_t first = check_random_in(0, across * down - 1), second = check_random_in(0, across * down - 1);
    uint8_t *samples = allocate((size_t)(w * h)), values[4096];
    tm_template *tmpl;

    for (size_t i = 0; i < sizeof values; i++)
        values[i] = (uint8_t)check_random();
    for (int64_t i = 0; i < w * h; i++) {
        const int64_t x = i % w, y = i / w, row = y / grain, cell = x / grain + row * across;
        samples[i] = (uint8_t)(kind == 0   ? (x + y) * 255 / (w + h)
                               : kind == 1 ? 100 + (i == w * h / 2)
                               : kind == 2 ? (x / grain + row) % 2 * 255
                               : kind == 3 ? 100 + 100 * (cell == first) + 70 * (cell == second)
                               : kind == LINES ? 100 + 100 * (row == first % down) + 77 * (row == second % down)
                                           : values[cell % 4096]);
    }
    const tm_image image = {.samples = samples, .width = w, .height = h, .stride = w};
    CHECK_EQ(tm_template_prepare(&tmpl, &image), TM_OK);
    free(samples);
    return tmpl;
}

/* One of the level's greater taps. */
static int draw_limit(const tm_level *k)
{
    int most = 0, tap = 0;
    for (int i = 0; i < k->across * k->down; i++)
        most = abs(k->taps[i]) > most ? abs(k->taps[i]) : most;
    while (4 * tap < most)
        tap = abs(k->taps[check_random_in(0, k->across * k->down - 1)]);
    return tap;
}

/* Lays what resembles some smaller taps, and the opposite of the greater ones, over flat samples: hardly
 * any contrast, and all of it where a bound that begins with the greatest taps looks last. */
static void draw_echo(level_case *l, int64_t left)
{
    const tm_level *k = l->level;
    const int count = k->across * k->down, contrast = check_random() & 1 ? 1 : (int)check_random_in(1, 9);
    const int limit = draw_limit(k);
    const int64_t opposite = check_random_in(0, 40);

    for (int i = 0; i < count; i++) {
        const int tap = k->taps[i];
        const bool is_later = abs(tap) <= limit;
        const int64_t share = !is_later ? opposite : 2 * abs(tap) > limit ? 100 : 0;
        uint8_t *block = l->samples + (k->y + i / k->across * k->block_y) * l->stride + left + k->x +
                         i % k->across * k->block_x;
        for (int j = 0; j < k->block_x * k->block_y; j++) {
            uint8_t *sample = block + j / k->block_x * l->stride + j % k->block_x;
            if (check_random_in(1, 100) <= share)
                *sample = (uint8_t)(*sample + ((tap > 0) == is_later ? contrast : -contrast));
        }
    }
}

/* The same in lines, so that no window differs from those beside it. */
static void draw_lines(level_case *l)
{
    const tm_level *k = l->level;
    const int limit = draw_limit(k);
    const int64_t opposite = check_random_in(0, 40);

    for (int y = 0; y < k->down * k->block_y; y++) {
        uint8_t *row = l->samples + (k->y + y) * l->stride;
        const int tap = k->taps[y / k->block_y * k->across];
        const bool is_later = abs(tap) <= limit;
        if (check_random_in(1, 100) <= (!is_later ? opposite : 2 * abs(tap) > limit ? 100 : 0))
            memset(row, row[0] + ((tap > 0) == is_later ? 1 : -1), (size_t)l->stride);
    }
}

/* After those of buffer_fill. */
enum { FAINT = 10, FAINT_LINES, DUST, FAINT_ONES, SAMPLES };

static void flatten(level_case *l, int64_t left, int64_t width)
{
    const int value = (int)check_random_in(10, 245);
    for (int64_t y = 0; y < l->tmpl->height; y++)
        memset(l->samples + y * l->stride + left, value, (size_t)width);
}

static void draw_samples(level_case *l, int64_t kind)
{
    const int64_t w = l->tmpl->width;
    buffer b = {.data = l->samples, .size = (size_t)(l->tmpl->height * l->stride)};

    buffer_fill(&b, kind < 10 ? (int)kind : 9);
    if (kind < 10)
        return;
    if (kind == FAINT) { /* and noise around it */
        const int64_t left = check_random_in(0, l->width - 1);
        flatten(l, left, w);
        draw_echo(l, left);
        return;
    }
    flatten(l, 0, l->stride);
    if (kind == FAINT_LINES) {
        draw_lines(l);
    } else if (kind == DUST) {
        for (size_t i = 0; i < b.size; i++)
            l->samples[i] = (uint8_t)(l->samples[i] + (check_random() % 32 == 0));
    } else {
        for (int64_t left = check_random_in(0, 9); left + w <= l->width; left += w)
            draw_echo(l, left);
    }
}

static void check_list(const level_case *l, const tm_cpu_kernels *kernels, const exact_window *windows, float least,
                       const uint16_t *passed, int count)
{
    const tm_level *k = l->level;

    CHECK(count >= 0 && count <= l->width);
    for (int i = 0; i < count; i++)
        CHECK(passed[i] < l->width && (i == 0 || passed[i] > passed[i - 1]));
    for (int x = 0, i = 0; x < l->width; x++) {
        if (i < count && passed[i] == x) {
            i++;
        } else if (must_pass(l, &windows[x], least)) {
            check_fail(__FILE__, __LINE__,
                       "pass_windows, %s: template %dx%d, blocks %dx%d: window %d of %d is left out, which reaches "
                       "%.9g: p %.9Lg, |f| %.9Lg, rest %.9g, |f - Pf| %.9Lg",
                       kernels->name, (int)l->tmpl->width, (int)l->tmpl->height, k->block_x, k->block_y, x, l->width,
                       (double)least, windows[x].p, windows[x].length, k->rest, windows[x].rest);
        }
    }
}

/* Looks at the windows with each instruction set, and adds up how many pass in each. */
static void look(level_case *l, int64_t *passed, int64_t *needed)
{
    exact_window *windows = malloc((size_t)l->width * sizeof *windows);
    buffer list = buffer_make((size_t)l->width * 2);

    CHECK(windows);
    for (int x = 0; x < l->width; x++)
        windows[x] = exact_window_of(l, x);
    for (int repeat = 0; repeat < 12; repeat++) {
        const float least = draw_least(l, windows);
        l->row.least = tm_certified_least(&l->certified, least + (float)l->level->slack);
        for (int x = 0; x < l->width; x++)
            *needed += must_pass(l, &windows[x], least);
        for (int i = 0; i < isa_count; i++) {
            const int count = isas[i].pass_windows(&l->row, list.data);
            passed[i] += count;
            check_margins(&list, "pass_windows", isas[i].name);
            check_list(l, &isas[i], windows, least, list.data, count);
        }
    }
    free(list.memory);
    free(windows);
}

void passes(void)
{
    int64_t passed[MAX_ISAS] = {0}, needed = 0;

    for (int64_t n = check_cases(600); n > 0; n--) {
        const bool lines = check_random() % 4 == 0;
        tm_template *tmpl = draw_template(lines ? LINES : check_random_in(0, TEMPLATES - 1));
        if (!tmpl->levels.count) {
            tm_template_destroy(&tmpl);
            continue;
        }
        level_case l;
        level_case_make(&l, tmpl, (int)check_random_in(0, tmpl->levels.count - 1),
                        (int)check_random_in(1, lines || check_random() & 1 ? 5 : 200), check_random() % 4);
        draw_samples(&l, lines ? FAINT_LINES : check_random_in(0, SAMPLES - 1));
        level_case_sum(&l);
        look(&l, passed, &needed);
        level_case_free(&l);
    }
    for (int i = 0; i < isa_count; i++)
        printf("# %s: %" PRId64 " pass, %" PRId64 " must\n", isas[i].name, passed[i], needed);
}
