/* SPDX-License-Identifier: MIT */
/* Families of posed templates: no member's score in any window is above its bound, and no position is
 * left out whose score reaches what is asked for, with samples of 8 bits or of more, and by cells. Every
 * instruction set. */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "each_cpu.h"
#include "integers.h"
#include "lcc/cpu/pose_cells.h"
#include "lcc/pose.h"
#include "match/certified_scenes.h"

enum { MOST_MEMBERS = 70 };

/* A family, and what was seen of it. */
typedef struct looks {
    const tm_family *family;
    const tm_posed *posed;
    const tm_family_search *search;
    const char *text;
    float least;
    bool *visited; /* of each window and member */
    int64_t listed, left_out;
} looks;

static float least_of(void *context)
{
    return ((const looks *)context)->least;
}

static int64_t sample_of(const tm_image *image, int64_t x, int64_t y)
{
    const bool inside = x >= 0 && y >= 0 && x < image->width && y < image->height;
    return inside ? image->samples[y * image->stride + x] : 0;
}

/* The score over the core, in double precision of exact sums. */
static double score(const looks *l, const tm_family_window *w, const tm_posed *p)
{
    const tm_family *f = l->family;
    const int64_t left = (p->width - f->width) / 2, top = (p->height - f->height) / 2, n = f->pixels;
    int64_t s_f = 0, s_ff = 0, s_t = 0, s_tt = 0, s_ft = 0;

    for (int i = 0; i < f->run_count; i++)
        for (int x = f->runs[i].x, y = f->runs[i].y; x < f->runs[i].end; x++) {
            int64_t a = sample_of(l->search->frame, w->x + x, w->y + y);
            const int64_t b = p->samples[(y + top) * p->width + x + left];
            CHECK(p->mask[(y + top) * p->width + x + left]);
            CHECK_EQ(w->samples[y * w->stride + x], a);
            if (l->search->rests)
                a = a * l->search->unit + sample_of(l->search->rests, w->x + x, w->y + y);
            s_f += a;
            s_ff += a * a;
            s_t += b;
            s_tt += b * b;
            s_ft += a * b;
        }
    CHECK_EQ(s_f, w->s_f);
    CHECK_EQ(l->search->rests ? 0 : s_ff, w->s_ff);
    if (n * s_ff == s_f * s_f)
        return 0;
    return (double)(n * s_ft - s_f * s_t) / sqrt((double)(n * s_ff - s_f * s_f) * (double)(n * s_tt - s_t * s_t));
}

static int64_t index_of(const looks *l, const tm_family_window *w, int member)
{
    const tm_family_search *s = l->search;
    return ((w->y - s->y) * s->width + w->x - s->x) * l->family->count + member;
}

/* At first all are listed: those that reach what is asked for next have to be listed then. */
static void visit(void *context, int thread, const tm_family_window *w)
{
    looks *l = context;
    const bool all = l->least < -1;

    CHECK_EQ(thread, 0);
    for (int i = 0; i < w->count; i++) {
        const int64_t index = index_of(l, w, w->members[i]);
        CHECK(w->members[i] >= 0 && w->members[i] < l->family->count);
        l->visited[index] = !all;
        l->listed++;
        if (!all)
            continue;
        const double here = score(l, w, &l->posed[w->members[i]]);
        if (here > (double)w->bounds[i] + (double)l->family->error + 1e-5)
            check_fail(__FILE__, __LINE__, "%s: %d members, basis %d, %" PRId64 " pixels: bound %.9g, score %.9g",
                       l->text, l->family->count, l->family->basis, l->family->pixels, (double)w->bounds[i], here);
    }
}

/* As the one above, for a second look with the score that is asked for in least. */
static void visit_missing(void *context, int thread, const tm_family_window *w)
{
    looks *l = context;
    const double asked = (double)*(const float *)l->text;

    CHECK_EQ(thread, 0);
    for (int i = 0; i < w->count; i++) {
        if (l->visited[index_of(l, w, w->members[i])])
            continue;
        l->left_out++;
        if (score(l, w, &l->posed[w->members[i]]) >= asked)
            check_fail(__FILE__, __LINE__, "a position was left out that scores %.9g or more", asked);
        if ((double)w->bounds[i] >= asked) /* what chains leave out, each member's own bound does */
            check_fail(__FILE__, __LINE__, "a position was left out whose bound is %.9g, of %.9g", (double)w->bounds[i], asked);
    }
}

/* What sums over cells have beside their means: samples below unit, of which some are all alike. */
static uint8_t *make_rests(tm_image *rests, const tm_image *frame, int unit)
{
    const size_t n = (size_t)(frame->width * frame->height);
    const int most = check_random() % 4 ? unit - 1 : 0;
    uint8_t *samples = malloc(n);

    CHECK(samples);
    for (size_t i = 0; i < n; i++)
        samples[i] = (uint8_t)check_random_in(0, most);
    *rests = (tm_image){.samples = samples,
                        .width = frame->width,
                        .height = frame->height,
                        .stride = (ptrdiff_t)frame->width};
    return samples;
}

static void look(tm_cpu *cpu, const scene *s, const tm_family *f, const tm_posed *posed, int64_t counts[2])
{
    looks l = {.family = f, .posed = posed, .text = s->text, .least = -2};
    tm_family_search search = {.family = f, .frame = &s->frame.image, .context = &l, .least = least_of, .visit = visit};
    const float asked = (float)check_random_in(0, 1000) / 1000;

    const int unit = (int)smaller(check_random_in(1, 256), TM_FAMILY_PIXELS / f->pixels);
    uint8_t *samples = NULL;
    tm_image rests;

    l.search = &search;
    if (check_random() % 3 == 0) {
        samples = make_rests(&rests, &s->frame.image, unit);
        search.rests = &rests;
        search.unit = unit;
    }
    search.x = check_random_in(-f->width, 3);
    search.y = check_random_in(-f->height, 3);
    search.width = check_random_in(1, 90);
    search.height = check_random_in(1, larger(1, smaller(30, 50000000 / (search.width * f->count * f->pixels))));
    l.visited = calloc((size_t)(search.width * search.height * f->count), sizeof *l.visited);
    CHECK(l.visited);
    CHECK_EQ(tm_cpu_search_family(cpu, &search), TM_OK);
    CHECK_EQ(search.windows, search.width * search.height);
    CHECK_EQ(search.passed, search.windows * f->count);
    CHECK_EQ(l.listed, search.passed);
    l.least = asked;
    l.listed = 0;
    CHECK_EQ(tm_cpu_search_family(cpu, &search), TM_OK);
    l.least = -2;
    l.text = (const char *)&asked;
    search.visit = visit_missing;
    CHECK_EQ(tm_cpu_search_family(cpu, &search), TM_OK);
    counts[0] += l.listed;
    counts[1] += l.left_out;
    free(l.visited);
    free(samples);
}

/* Poses of one parity. */
static size_t make_poses(tm_posed *posed, const tm_image *image)
{
    const int64_t step = check_random_in(1, check_random() % 2 ? 60000000 : 3000000), from = check_random_in(0, TM_POSE_TURN);
    const int64_t scale = check_random_in(700000, 1400000), grows = check_random() % 2 ? check_random_in(1, 9000) : 0;
    const tm_pose_support all = {.disc = true, .distance = INT64_MAX};
    const int most = check_random() % 4 ? MOST_MEMBERS : (int)check_random_in(1, 4);
    size_t count = 0;

    for (int i = 0; i < most; i++) {
        tm_posed *p = &posed[count];
        CHECK_EQ(tm_pose_make(p, image, (tm_turn){from + i * step, scale + i * grows}, &all), TM_OK);
        if (!tm_posed_is_flat(p))
            count++;
        else
            tm_posed_free(p);
    }
    return count;
}

static void random_cases(uint32_t features)
{
    tm_cpu cpu = {0};
    const int64_t wanted = check_cases(200) / 50 + 1;
    int64_t families = 0, half_turns = 0, chains = 0, tried = 0, counts[2] = {0};

    CHECK_EQ(tm_cpu_init(&cpu, 1, features), TM_OK);
    for (; families < wanted; tried++) { /* many have no pixels in common */
        tm_posed posed[MOST_MEMBERS];
        tm_family family;
        scene s;
        scene_make(&s, 1e6);
        const size_t count = s.count ? make_poses(posed, &s.tmpls[0].image) : 0;
        CHECK_EQ(tm_family_begin(&family, posed, count), TM_OK);
        family.half_turns = check_random() % 2; /* of members that may have none, which is as right */
        CHECK_EQ(tm_family_finish(&family, posed, (int)check_random_in(2, TM_FAMILY_BASIS), INFINITY), TM_OK);
        if (family.count) {
            CHECK_EQ(family.count, count);
            families++;
            half_turns += family.half_turns;
            chains += family.chain != NULL;
            look(&cpu, &s, &family, posed, counts);
        }
        tm_family_free(&family);
        for (size_t k = 0; k < count; k++)
            tm_posed_free(&posed[k]);
        scene_free(&s);
    }
    tm_cpu_free(&cpu);
    CHECK(families < 30 || (half_turns && chains));
    printf("# %" PRId64 " families of %" PRId64 ", %" PRId64 " by half turns, %" PRId64 " with chains, %" PRId64 " positions listed, %" PRId64 " left out\n",
           families, tried, half_turns, chains, counts[0], counts[1]);
}

/* Windows of a class that are searched by its cells, and where each of its members passed. */
typedef struct cell_looks {
    const tm_pose_class *class;
    const tm_family_search *search;
    float least;
    bool *passed;
    int64_t windows;
} cell_looks;

static float least_of_cells(void *context)
{
    return ((const cell_looks *)context)->least;
}

static void visit_cells(void *context, int thread, const tm_family_window *w)
{
    cell_looks *l = context;
    const tm_family_search *s = l->search;

    CHECK_EQ(thread, 0);
    CHECK(w->x >= s->x && w->x < s->x + s->width && w->y >= s->y && w->y < s->y + s->height);
    l->windows++;
    for (int i = 0; i < w->count; i++) {
        bool *passed = &l->passed[((w->y - s->y) * s->width + w->x - s->x) * (int64_t)l->class->count + w->members[i]];
        CHECK(!*passed);
        *passed = true;
    }
}

/* The member's score in the window of its class's family at (x, y), by all pixels that count. */
static double score_of_member(const tm_pose_class *c, const tm_pose_member *m, const tm_image *frame, int64_t x,
                              int64_t y)
{
    const int64_t left = x - (m->width - c->family.width) / 2, top = y - (m->height - c->family.height) / 2;
    int64_t n = 0, s_f = 0, s_ff = 0, s_t = 0, s_tt = 0, s_ft = 0;

    for (int v = 0; v < m->height; v++) {
        for (int u = 0; u < m->width; u++) {
            if (!m->counts[v * m->stride + u])
                continue;
            const int64_t a = sample_of(frame, left + u, top + v), b = m->taps[v * m->stride + u];
            n++;
            s_f += a;
            s_ff += a * a;
            s_t += b;
            s_tt += b * b;
            s_ft += a * b;
        }
    }
    if (n * s_ff == s_f * s_f)
        return 0;
    return (double)(n * s_ft - s_f * s_t) / sqrt((double)(n * s_ff - s_f * s_f) * (double)(n * s_tt - s_t * s_t));
}

/* What cells must score where all of a picture is to score so much. */
static float least_for(const tm_pose_cells *cells, double asked)
{
    const double square = (asked * asked - (1 - cells->share)) / cells->share;
    return asked > 0 && square > 0 ? (float)(sqrt(square) - cells->error - 1e-6) : -2;
}

static void search_cells(tm_cpu *cpu, const tm_pose_cells *cells, const tm_family_search *s)
{
    tm_cell_frames frames = {0};
    CHECK_EQ(tm_pose_search_cells(cpu, &frames, cells, s), TM_OK);
    tm_cell_frames_free(&frames);
}

/* Tries scores that are asked for, and fails where a position reaches one and was left out. */
static void look_at_cells(tm_cpu *cpu, const tm_pose_class *c, const tm_pose_cells *cells, const tm_image *frame,
                          int64_t counts[2])
{
    cell_looks l = {.class = c, .least = -2};
    tm_family_search s = {.family = &c->family, .frame = frame, .context = &l, .least = least_of_cells, .visit = visit_cells};
    const double asked = (double)check_random_in(300, 999) / 1000, share = cells->share;

    CHECK(share > 0 && share <= 1 && cells->error >= 0);
    s.x = check_random_in(-c->family.width, frame->width / 2);
    s.y = check_random_in(-c->family.height, frame->height / 2);
    s.width = check_random_in(1, 40);
    s.height = check_random_in(1, 20);
    const int64_t pairs = s.width * s.height * (int64_t)c->count;
    l.search = &s;
    l.passed = calloc((size_t)pairs, sizeof *l.passed);
    CHECK(l.passed);
    search_cells(cpu, cells, &s);
    CHECK_EQ(l.windows, s.width * s.height);
    for (int64_t i = 0; i < pairs; i++) {
        CHECK(l.passed[i]);
        l.passed[i] = false;
    }
    l.least = least_for(cells, asked);
    search_cells(cpu, cells, &s);
    for (int64_t i = 0; i < pairs; i++) {
        const int64_t at = i / (int64_t)c->count;
        const tm_pose_member *member = &c->members[i % (int64_t)c->count];
        counts[l.passed[i]]++;
        if (!l.passed[i] && score_of_member(c, member, frame, s.x + at % s.width, s.y + at / s.width) >= asked)
            check_fail(__FILE__, __LINE__, "by cells of %d x %d pixels, share %.4g, error %.4g, a position was left out that "
                       "scores %.9g or more", cells->side, cells->side, share, cells->error, asked);
    }
    free(l.passed);
}

/* A frame that is made against the bound: a member's own pixels, with other means in its cells. Its score
 * there is asked for. */
static void look_at_other_means(tm_cpu *cpu, const tm_pose_class *c, const tm_pose_cells *cells)
{
    const tm_pose_member *m = &c->members[check_random_in(0, (int64_t)c->count - 1)];
    const int64_t left = (m->width - c->family.width) / 2, top = (m->height - c->family.height) / 2;
    const int across = cells->family.width, most = (int)check_random_in(1, 120);
    /* cells begin at multiples of places in the frame */
    const int64_t first_x = cells->x - (left + cells->x) % cells->places;
    const int64_t first_y = cells->y - (top + cells->y) % cells->places;
    const double share = cells->share;
    uint8_t *samples = malloc((size_t)(m->width * m->height));
    int *means = malloc((size_t)(across * cells->family.height) * sizeof *means);
    bool passed[1000] = {false};
    cell_looks l = {.class = c, .passed = passed};

    CHECK(samples && means && c->count < 1000);
    for (int i = 0; i < across * cells->family.height; i++)
        means[i] = (int)check_random_in(-most, most);
    for (int64_t y = 0; y < m->height; y++) {
        for (int64_t x = 0; x < m->width; x++) {
            const int64_t column = floor_div(x - left - first_x, cells->side);
            const int64_t row = floor_div(y - top - first_y, cells->side);
            const bool inside = column >= 0 && row >= 0 && column < across && row < cells->family.height;
            const int64_t sample = m->taps[y * m->stride + x] + 128 + (inside ? means[row * across + column] : 0);
            samples[y * m->width + x] = (uint8_t)clamp(sample, 0, 255);
        }
    }
    const tm_image frame = {.samples = samples, .width = m->width, .height = m->height, .stride = m->width};
    const tm_family_search s = {.family = &c->family, .frame = &frame, .x = left, .y = top, .width = 1, .height = 1,
                                .context = &l, .least = least_of_cells, .visit = visit_cells};
    const double asked = score_of_member(c, m, &frame, left, top);
    l.search = &s;
    l.least = least_for(cells, asked - 1e-6);
    search_cells(cpu, cells, &s);
    if (!passed[m - c->members])
        check_fail(__FILE__, __LINE__, "by cells of %d x %d pixels, share %.4g, error %.4g, a position was left out that "
                   "scores %.9g", cells->side, cells->side, share, cells->error, asked);
    free(means);
    free(samples);
}

static void random_cells(uint32_t features)
{
    tm_cpu cpu = {0};
    const int64_t wanted = check_cases(200) / 50 + 1;
    int64_t classes = 0, counts[2] = {0};

    CHECK_EQ(tm_cpu_init(&cpu, 1, features), TM_OK);
    while (classes < wanted) { /* small templates have no cells */
        const tm_pose_support all = {.disc = check_random() % 2, .distance = INT64_MAX};
        tm_poses poses = {.angles = {check_random_in(0, TM_POSE_TURN), check_random_in(1, 60000000), check_random_in(1, 9)},
                          .scales = {check_random_in(900000, 1400000), 50000, check_random_in(1, 2)},
                          .support = all};
        tm_pose_families f;
        scene s;
        scene_make_easy(&s, 1e7);
        if (s.count) {
            const tm_image *image = &s.tmpls[0].image;
            for (int64_t i = 0; i < tm_poses_count(&poses) && all.disc; i++)
                CHECK_EQ(tm_pose_reach(&poses.support.distance, image, tm_poses_turn(&poses, i)), TM_OK);
            CHECK_EQ(tm_pose_families_make(&f, image, &poses, check_random() % 2, false, 1), TM_OK);
            for (int k = 0; k < f.count * TM_POSE_LEVELS && !f.fault; k++) {
                const tm_pose_class *c = &f.list[k / TM_POSE_LEVELS];
                const tm_pose_cells *cells = &c->cells[k % TM_POSE_LEVELS];
                if (cells->family.count) {
                    look_at_cells(&cpu, c, cells, &s.frame.image, counts);
                    for (int i = 0; i < 20; i++)
                        look_at_other_means(&cpu, c, cells);
                    classes++;
                }
            }
            tm_pose_families_free(&f);
        }
        scene_free(&s);
    }
    tm_cpu_free(&cpu);
    printf("# %" PRId64 " classes by cells, %" PRId64 " positions passed, %" PRId64 " left out\n", classes, counts[1], counts[0]);
}

#define CPU_TEST(X, ...) X(__VA_ARGS__, random_cases) X(__VA_ARGS__, random_cells)
DEFINE_CPU_TESTS

int main(int argc, char **argv)
{
    static const check_test tests[] = {CPU_TESTS};
    return check_main(tests, sizeof tests / sizeof *tests, argc, argv);
}
