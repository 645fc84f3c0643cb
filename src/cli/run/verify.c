/* SPDX-License-Identifier: MIT */
#include "run/verify.h"

#include <math.h>
#include <string.h>

static bool same_bits(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b));
}

static bool same_hits(const tm_hits *a, const tm_hits *b)
{
    bool same = a->count == b->count;
    for (size_t i = 0; i < a->count && same; i++) {
        const tm_hit *p = &a->items[i], *q = &b->items[i];
        same = p->peak.x == q->peak.x && p->peak.y == q->peak.y &&
               same_bits(p->peak.score, q->peak.score) && same_bits(p->margin, q->margin);
    }
    return same;
}

static bool reserve_map(const cli_engine *e, score_map *map, const tm_image *image,
                        const cli_template *tmpl, io_error *error)
{
    return score_map_create(map, &e->options->settings, image, tmpl->width, tmpl->height, error);
}

/* Where no map was asked for, the match ran without one, and may have found its peaks by another
 * algorithm than it fills a map with: so it runs again, and both must agree with the oracle. */
bool verify_pair(const cli_engine *e, const tm_device_image *image, bool color,
                 const cli_templates *templates, size_t i, const tm_hits *hits, cli_pair *pair)
{
    const cli_template *tmpl = &templates->list[i];
    score_map *map = &pair->map;
    tm_hits mapped = {0}, truth = {0};
    score_map truth_map = {0};
    bool done = false;
    const bool again = !map->data;

    if (again && (!reserve_map(e, map, &image->image, tmpl, &pair->error) ||
                  !engine_find_one(e, e->matcher, image, e->prepared[color][i], &mapped, map, pair)))
        return false;
    if (reserve_map(e, &truth_map, &image->image, tmpl, &pair->error) &&
        engine_find_one(e, e->oracle, image, e->truths[color][i], &truth, &truth_map, pair)) {
        pair->result.verification = score_map_compare(map, &truth_map);
        pair->result.verification.same_peak =
            same_hits(hits, &truth) && (!again || same_hits(&mapped, &truth));
        pair->result.verified = true;
        done = true;
    }
    tm_hits_free(&mapped);
    tm_hits_free(&truth);
    score_map_free(&truth_map);
    return done;
}
