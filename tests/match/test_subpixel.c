/* SPDX-License-Identifier: MIT */
/* Sub-pixel places against known shifts: the data pictures are shifted by fractions,
 * and a part of the picture as it was is looked for. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "io/io.h"
#include "tmatch/tmatch.h"

static io_picture read_picture(const char *name)
{
    const char *folder = getenv("TMATCH_DATA_DIR");
    const io_limits limits = {1 << 28};
    io_picture picture;
    io_source source;
    io_error error;
    char path[1000];

    CHECK(folder);
    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (!io_source_open(&source, path, &error) ||
        !io_decode(&source, IO_GRAY, &limits, &picture, &error))
        check_fail(__FILE__, __LINE__, "%s: %s", path, error.reason);
    io_source_close(&source);
    return picture;
}

enum { REACH = 12 };

/* Sinc, which moves a picture without changing its frequencies, in a window that
 * ends it: Lanczos's. The samples are those at -REACH + 1 .. REACH. */
static void sinc(double weights[2 * REACH], double t)
{
    const double pi = acos(-1);
    double sum = 0;
    for (int i = 0; i < 2 * REACH; i++) {
        const double x = pi * (i - REACH + 1 - t), window = x / REACH;
        weights[i] = fabs(x) < 1e-9 ? 1 : sin(x) / x * (sin(window) / window);
        sum += weights[i];
    }
    for (int i = 0; i < 2 * REACH; i++)
        weights[i] /= sum;
}

/* At the edge the picture is mirrored. */
static int64_t inside(int64_t i, int64_t size)
{
    return i < 0 ? -i : i >= size ? 2 * size - 2 - i : i;
}

/* What was at (x, y) is then at (x + dx, y + dy). */
static uint8_t *shift(const io_picture *p, double dx, double dy)
{
    const int64_t w = p->width, h = p->height;
    const int64_t x0 = (int64_t)floor(-dx) - REACH + 1, y0 = (int64_t)floor(-dy) - REACH + 1;
    uint8_t *shifted = malloc((size_t)(w * h));
    double *rows = calloc((size_t)(w * h), sizeof *rows);
    double across[2 * REACH], down[2 * REACH];

    CHECK(shifted && rows);
    sinc(across, -dx - floor(-dx));
    sinc(down, -dy - floor(-dy));
    for (int64_t y = 0; y < h; y++)
        for (int64_t x = 0; x < w; x++)
            for (int i = 0; i < 2 * REACH; i++)
                rows[y * w + x] += across[i] * p->samples[y * w + inside(x + x0 + i, w)];
    for (int64_t y = 0; y < h; y++) {
        for (int64_t x = 0; x < w; x++) {
            double sum = 0;
            for (int i = 0; i < 2 * REACH; i++)
                sum += down[i] * rows[inside(y + y0 + i, h) * w + x];
            shifted[y * w + x] = (uint8_t)(sum < 0 ? 0 : sum > 255 ? 255 : lrint(sum));
        }
    }
    free(rows);
    return shifted;
}

typedef struct errors {
    double sum, worst;
    int count;
} errors;

static const tm_metric metrics[] = {TM_METRIC_LCC, TM_METRIC_SQDIFF};
enum { METRICS = sizeof metrics / sizeof *metrics };

typedef struct searcher {
    tm_matcher *matcher;
    tm_template *tmpl;
    errors errors;
} searcher;

static void measure(searcher *s, const tm_image *frame, int64_t x, int64_t y, double dx, double dy)
{
    const tm_template *tmpl = s->tmpl;
    tm_search search;
    tm_hits hits;

    tm_search_default(&search, sizeof search);
    search.most = 1;
    search.subpixel = 1;
    CHECK_EQ(tm_match_peaks(s->matcher, frame, &tmpl, 1, &search, &hits, NULL), TM_OK);
    CHECK_EQ(hits.count, 1);
    const tm_hit *hit = &hits.items[0];
    const double off[2] = {fabs((double)(hit->peak.x - x) + hit->dx - dx),
                           fabs((double)(hit->peak.y - y) + hit->dy - dy)};
    CHECK(fabs(hit->dx) <= 0.5 && fabs(hit->dy) <= 0.5);
    for (int i = 0; i < 2; i++) {
        s->errors.sum += off[i];
        s->errors.worst = fmax(s->errors.worst, off[i]);
        s->errors.count++;
    }
    tm_hits_free(&hits);
}

static void shift_by_known(searcher searchers[METRICS], const io_picture *p, int64_t x, int64_t y)
{
    static const double across[] = {-0.4, -0.25, 0, 0.1, 0.25, 0.4}, down[] = {-0.3, 0, 0.2, 0.45};
    for (int k = 0; k < 6; k++) {
        for (int j = 0; j < 4; j++) {
            uint8_t *shifted = shift(p, across[k], down[j]);
            const tm_image frame = {.samples = shifted, .width = p->width, .height = p->height,
                                    .stride = (ptrdiff_t)p->width};
            for (int m = 0; m < METRICS; m++)
                measure(&searchers[m], &frame, x, y, across[k], down[j]);
            free(shifted);
        }
    }
}

/* In a slow build, of every third picture. */
static void known_shifts(void)
{
    static const struct {
        const char *name;
        double mean; /* at most */
    } pictures[] = {
        {"camera.png", 0.015},    {"brick.png", 0.016},   {"gravel.png", 0.015},
        {"text.png", 0.015},      {"chelsea.png", 0.015}, {"coffee.png", 0.015},
        {"astronaut.png", 0.015}, {"rocket.jpg", 0.025},  {"hubble_deep_field.jpg", 0.015},
    };
    searcher searchers[METRICS] = {0};

    for (int m = 0; m < METRICS; m++) {
        tm_settings settings;
        tm_settings_default(&settings, sizeof settings);
        settings.device = TM_DEVICE_CPU;
        settings.metric = metrics[m];
        CHECK_EQ(tm_matcher_create(&searchers[m].matcher, &settings), TM_OK);
    }
    const size_t step = check_is_slow() ? 5 : 1;
    for (size_t i = check_random() % step; i < sizeof pictures / sizeof *pictures; i += step) {
        io_picture p = read_picture(pictures[i].name);
        const int64_t w = p.width < 224 ? p.width - 24 : 200, h = p.height < 224 ? p.height - 24 : 200;
        const int64_t x = (p.width - w) / 2, y = (p.height - h) / 2;
        const tm_image crop = {.samples = p.samples + y * p.width + x, .width = w, .height = h,
                               .stride = (ptrdiff_t)p.width};
        for (int m = 0; m < METRICS; m++) {
            searchers[m].errors = (errors){0};
            CHECK_EQ(tm_template_create(&searchers[m].tmpl, searchers[m].matcher, &crop), TM_OK);
        }
        shift_by_known(searchers, &p, x, y);
        for (int m = 0; m < METRICS; m++) {
            const errors *e = &searchers[m].errors;
            printf("# %s, %dx%d, %s: off by %.3f pixels in the mean, at most %.3f\n", pictures[i].name,
                   (int)w, (int)h, tm_metric_name(metrics[m]), e->sum / e->count, e->worst);
            CHECK(e->sum / e->count <= pictures[i].mean);
            CHECK(e->worst <= 0.05);
            tm_template_destroy(&searchers[m].tmpl);
        }
        io_picture_free(&p);
    }
    for (int m = 0; m < METRICS; m++)
        tm_matcher_destroy(&searchers[m].matcher);
}

/* Copies at the edges of a picture, where a surface may have its top beyond the map, or
 * none: they are not moved away from the edge, and along it little. */
static void copies_at_edges(void)
{
    static const char *const names[] = {"camera.png", "brick.png", "coffee.png", "chelsea.png"};
    enum { SIDE = 20 };
    searcher s = {0};
    tm_settings settings;
    tm_settings_default(&settings, sizeof settings);
    settings.device = TM_DEVICE_CPU;
    CHECK_EQ(tm_matcher_create(&s.matcher, &settings), TM_OK);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        io_picture p = read_picture(names[i]);
        const tm_image frame = {.samples = p.samples, .width = p.width, .height = p.height,
                                .stride = (ptrdiff_t)p.width};
        for (int k = 0; k < 40; k++) {
            const int64_t along = 15 + 6 * k;
            const int64_t x = k % 4 == 0 ? 0 : k % 4 == 1 ? p.width - SIDE : along;
            const int64_t y = k % 4 == 2 ? 0 : k % 4 == 3 ? p.height - SIDE : along;
            const tm_image crop = {.samples = p.samples + y * p.width + x, .width = SIDE,
                                   .height = SIDE, .stride = (ptrdiff_t)p.width};
            CHECK_EQ(tm_template_create(&s.tmpl, s.matcher, &crop), TM_OK);
            measure(&s, &frame, x, y, 0, 0);
            tm_template_destroy(&s.tmpl);
        }
        io_picture_free(&p);
    }
    printf("# copies at edges: off by %.3f pixels in the mean\n", s.errors.sum / s.errors.count);
    CHECK(s.errors.sum / s.errors.count <= 0.08);
    tm_matcher_destroy(&s.matcher);
}

int main(int argc, char **argv)
{
    static const check_test tests[] = {TEST(known_shifts), TEST(copies_at_edges)};
    return check_main(tests, sizeof tests / sizeof *tests, argc, argv);
}
