/* SPDX-License-Identifier: MIT */
/* Families of posed templates: no member's score in any window is above its bound, and no position is
 * left out whose score reaches what is asked for. Every instruction set. */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "each_cpu.h"
#include "integers.h"
#include "lcc/cpu/family.h"
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

/* The score over the core, in double precision of exact sums. */
static double score(const looks *l, const tm_family_window *w, const tm_posed *p)
{
    const tm_family *f = l->family;
    const int64_t left = (p->width - f->width) / 2, top = (p->height - f->height) / 2, n = f->pixels;
    int64_t s_f = 0, s_ff = 0, s_t = 0, s_tt = 0, s_ft = 0;

    for (int i = 0; i < f->run_count; i++)
        for (int x = f->runs[i].x, y = f->runs[i].y; x < f->runs[i].end; x++) {
            const int64_t a = w->samples[y * w->stride + x], b = p->samples[(y + top) * p->width + x + left];
            CHECK(p->mask[(y + top) * p->width + x + left]);
            s_f += a;
            s_ff += a * a;
            s_t += b;
            s_tt += b * b;
            s_ft += a * b;
        }
    CHECK_EQ(s_f, w->s_f);
    CHECK_EQ(s_ff, w->s_ff);
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

    CHECK_EQ(thread, 0);
    for (int i = 0; i < w->count; i++) {
        if (l->visited[index_of(l, w, w->members[i])])
            continue;
        l->left_out++;
        if (score(l, w, &l->posed[w->members[i]]) >= (double)*(const float *)l->text)
            check_fail(__FILE__, __LINE__, "a position was left out that scores %.9g or more",
                       (double)*(const float *)l->text);
    }
}

static void look(tm_cpu *cpu, const scene *s, const tm_family *f, const tm_posed *posed, int64_t counts[2])
{
    looks l = {.family = f, .posed = posed, .text = s->text, .least = -2};
    tm_family_search search = {.family = f, .frame = &s->frame.image, .context = &l, .least = least_of, .visit = visit};
    const float asked = (float)check_random_in(0, 1000) / 1000;

    l.search = &search;
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
}

/* Poses of one parity. */
static size_t make_poses(tm_posed *posed, const tm_image *image)
{
    const int64_t step = check_random_in(1, 60000000), from = check_random_in(0, TM_POSE_TURN);
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
    int64_t families = 0, tried = 0, counts[2] = {0};

    CHECK_EQ(tm_cpu_init(&cpu, 1, features), TM_OK);
    for (; families < wanted; tried++) { /* many have no pixels in common */
        tm_posed posed[MOST_MEMBERS];
        tm_family family;
        scene s;
        scene_make(&s, 1e6);
        const size_t count = s.count ? make_poses(posed, &s.tmpls[0].image) : 0;
        CHECK_EQ(tm_family_make(&family, posed, count, (int)check_random_in(2, TM_FAMILY_BASIS)), TM_OK);
        if (family.count) {
            CHECK_EQ(family.count, count);
            families++;
            look(&cpu, &s, &family, posed, counts);
        }
        tm_family_free(&family);
        for (size_t k = 0; k < count; k++)
            tm_posed_free(&posed[k]);
        scene_free(&s);
    }
    tm_cpu_free(&cpu);
    printf("# %" PRId64 " families of %" PRId64 ", %" PRId64 " positions listed, %" PRId64 " left out\n", families,
           tried, counts[0], counts[1]);
}

#define CPU_TEST(X, ...) X(__VA_ARGS__, random_cases)
DEFINE_CPU_TESTS

int main(int argc, char **argv)
{
    static const check_test tests[] = {CPU_TESTS};
    return check_main(tests, sizeof tests / sizeof *tests, argc, argv);
}
