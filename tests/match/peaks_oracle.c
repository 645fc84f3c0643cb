/* SPDX-License-Identifier: MIT */
#include "peaks_oracle.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

double truth_at(const truth *t, int64_t x, int64_t y)
{
    return t->map[y * t->width + x];
}

static bool ranks_before(const tm_peak *a, const tm_peak *b)
{
    if (a->score != b->score)
        return a->score > b->score;
    return a->y != b->y ? a->y < b->y : a->x < b->x;
}

static int by_rank(const void *a, const void *b)
{
    return ranks_before(&((const tm_hit *)a)->peak, &((const tm_hit *)b)->peak) ? -1 : 1;
}

static bool is_peak(const truth *t, int64_t x, int64_t y)
{
    const tm_peak own = {x, y, truth_at(t, x, y)};
    if (own.score == -INFINITY)
        return false;
    for (int64_t v = y - 1; v <= y + 1; v++) {
        for (int64_t u = x - 1; u <= x + 1; u++) {
            if (u < 0 || v < 0 || u >= t->width || v >= t->height || (u == x && v == y))
                continue;
            const tm_peak other = {u, v, truth_at(t, u, v)};
            if (!ranks_before(&own, &other))
                return false;
        }
    }
    return true;
}

static void find_peaks(truth *t)
{
    CHECK(t->peaks = calloc((size_t)(t->width * t->height), sizeof *t->peaks));
    for (int64_t y = 0; y < t->height; y++)
        for (int64_t x = 0; x < t->width; x++)
            if (is_peak(t, x, y))
                t->peaks[t->count++] = (tm_hit){.peak = {x, y, truth_at(t, x, y)}, .margin = NAN};
    qsort(t->peaks, t->count, sizeof *t->peaks, by_rank);
}

static double iou(const tm_peak *a, const tm_peak *b, int64_t w, int64_t h)
{
    const int64_t u = w - llabs(a->x - b->x), v = h - llabs(a->y - b->y);
    if (u <= 0 || v <= 0)
        return 0;
    return (double)(u * v) / (double)(2 * w * h - u * v);
}

/* What search.peaks lets see of the peaks: a number of the first ones. */
static size_t visible(const truth *t, const tm_search *s, bool *more)
{
    const size_t limit = (size_t)s->peaks;
    size_t above = 0;
    while (above < t->count && !(t->peaks[above].peak.score < t->sign * s->min_score))
        above++;
    *more = above > limit;
    if (*more)
        return limit;
    const size_t below = t->count - above;
    return above + (!s->margin ? 0 : below < limit ? below : limit);
}

size_t truth_suppress(const truth *t, const tm_search *s, int64_t w, int64_t h, tm_hit *hits,
                       bool *cut_off)
{
    bool more;
    const size_t seen = visible(t, s, &more);
    tm_hit *taken = calloc(seen + 1, sizeof *taken);
    /* What is taken in bands as high as the template, the last first, counted from 1: what overlaps is in the same band or
     * beside it. There is a band more at each end. */
    size_t *last = calloc((size_t)(t->height / h) + 3, sizeof *last), *before = calloc(seen + 1, sizeof *before);
    size_t count = 0, hit_count = 0;

    CHECK(taken && last && before);
    /* up to the one that the last match's margin is measured to */
    for (size_t i = 0; i < seen && (!s->most || count <= (size_t)s->most); i++) {
        bool covered = false;
        const int64_t band = t->peaks[i].peak.y / h + 1;
        for (int64_t near = band - 1; near <= band + 1 && !covered && s->overlap < 1; near++) {
            for (size_t k = last[near]; k && !covered; k = before[k])
                covered = iou(&taken[k - 1].peak, &t->peaks[i].peak, w, h) > s->overlap;
        }
        if (!covered) {
            taken[count++] = t->peaks[i];
            before[count] = last[band];
            last[band] = count;
        }
    }
    free(last);
    free(before);
    for (size_t i = 0; i < count; i++) {
        if ((s->most && i >= (size_t)s->most) || taken[i].peak.score < t->sign * s->min_score)
            break;
        hits[i] = taken[i];
        if (s->margin && i + 1 < count)
            hits[i].margin = t->sign * taken[i + 1].peak.score;
        hit_count++;
    }
    *cut_off = more && !(s->most && hit_count == (size_t)s->most);
    free(taken);
    return hit_count;
}

double map_element(const tm_map *map, tm_metric metric, size_t i)
{
    return tm_metric_is_integer(metric) ? (double)((int64_t *)map->data)[i]
                                        : (double)((float *)map->data)[i];
}

bool truth_make(truth *t, const scene *p)
{
    tm_settings settings;
    tm_matcher *reference = NULL;
    tm_template *tmpl = NULL;
    tm_peak best;
    int64_t skipped[1] = {0};

    tm_settings_default(&settings, sizeof settings);
    settings.algorithm = TM_ALGORITHM_REFERENCE;
    settings.device = TM_DEVICE_CPU;
    settings.metric = p->metric;
    settings.domain = p->domain;
    *t = (truth){.sign = tm_metric_is_distance(p->metric) ? -1 : 1};
    CHECK_EQ(tm_matcher_create(&reference, &settings), TM_OK);
    CHECK_EQ(tm_map_size(p->domain, p->frame.width, p->frame.height, p->tmpl.width, p->tmpl.height,
                         &t->width, &t->height),
             TM_OK);
    const size_t count = (size_t)(t->width * t->height), element = tm_map_element_size(p->metric);
    tm_map map = {malloc(count * element), (ptrdiff_t)element * t->width};
    CHECK(map.data && (t->map = malloc(count * sizeof *t->map)));
    t->created = tm_template_create(&tmpl, reference, &p->tmpl) == TM_OK;
    bool good = t->created &&
                tm_match(reference, &p->frame, tmpl, &best, &map) == TM_OK;
    CHECK_EQ(tm_map_skipped(p->metric, skipped), TM_OK);
    for (size_t i = 0; good && i < count; i++)
        t->map[i] = memcmp((char *)map.data + i * element, skipped, element) == 0
                        ? -INFINITY
                        : t->sign * map_element(&map, p->metric, i);
    if (p->domain != TM_DOMAIN_VALID) {
        t->pad_x = (p->tmpl.width - 1) / (p->domain == TM_DOMAIN_SAME ? 2 : 1);
        t->pad_y = (p->tmpl.height - 1) / (p->domain == TM_DOMAIN_SAME ? 2 : 1);
    }
    free(map.data);
    tm_template_destroy(&tmpl);
    tm_matcher_destroy(&reference);
    if (good)
        find_peaks(t);
    return good;
}

void truth_free(truth *t)
{
    free(t->map);
    free(t->peaks);
}

tm_matcher *scene_matcher(scene_matchers *m, const scene *p)
{
    tm_matcher **slot = &m->made[p->metric][p->domain];
    m->settings.metric = p->metric;
    m->settings.domain = p->domain;
    if (!*slot && tm_matcher_create(slot, &m->settings) != TM_OK)
        check_fail(__FILE__, __LINE__, "no matcher: %s", tm_matcher_message(*slot));
    return *slot;
}

void scene_matchers_free(scene_matchers *m)
{
    for (int metric = 0; metric < TM_METRICS; metric++)
        for (int domain = 0; domain < 3; domain++)
            tm_matcher_destroy(&m->made[metric][domain]);
}

bool same_margin(double a, double b)
{
    return isnan(a) ? isnan(b) : a == b;
}
