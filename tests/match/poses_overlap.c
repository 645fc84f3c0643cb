/* SPDX-License-Identifier: MIT */
/* Suppression of turned boxes: the corners of an intersection are those of either box in the other
 * one, and where their sides cross. */
#include <math.h>
#include <stdlib.h>

#include "check.h"
#include "poses_oracle.h"

typedef struct corner {
    long double x, y, angle;
} corner;

static long double cross(corner a, corner b, corner p)
{
    return (b.x - a.x) * (p.y - a.y) - (b.y - a.y) * (p.x - a.x);
}

/* Corners relative to those of another box, in pixels. */
static void corners_of(corner box[4], const tm_posed_hit *hit, const tm_posed_hit *origin)
{
    for (int i = 0; i < 4; i++)
        box[i] = (corner){(long double)hit->corners[i][0] - origin->center_x,
                          (long double)hit->corners[i][1] - origin->center_y, 0};
}

static int inside(corner *found, const corner a[4], const corner b[4])
{
    int count = 0;
    for (int i = 0; i < 4; i++) {
        bool in = true;
        for (int k = 0; k < 4; k++)
            in = in && cross(b[k], b[(k + 1) % 4], a[i]) >= 0;
        if (in)
            found[count++] = a[i];
    }
    return count;
}

static int crossings(corner *found, const corner a[4], const corner b[4])
{
    int count = 0;
    for (int i = 0; i < 16; i++) {
        const corner p = a[i / 4], q = a[(i / 4 + 1) % 4], r = b[i % 4], s = b[(i % 4 + 1) % 4];
        const long double d = cross(r, s, p), e = cross(r, s, q);
        if ((d > 0) == (e > 0) || (cross(p, q, r) > 0) == (cross(p, q, s) > 0))
            continue;
        const long double t = d / (d - e);
        found[count++] = (corner){p.x + t * (q.x - p.x), p.y + t * (q.y - p.y), 0};
    }
    return count;
}

static int by_angle(const void *a, const void *b)
{
    const long double d = ((const corner *)a)->angle - ((const corner *)b)->angle;
    return d < 0 ? -1 : d > 0;
}

static long double area(const corner *p, int count)
{
    long double twice = 0;
    for (int i = 0; i < count; i++)
        twice += p[i].x * p[(i + 1) % count].y - p[i].y * p[(i + 1) % count].x;
    return twice / 2;
}

static bool far_apart(const tm_posed_hit *a, const tm_posed_hit *b)
{
    const double reach =
        hypot(a->corners[0][0] - a->center_x, a->corners[0][1] - a->center_y) +
        hypot(b->corners[0][0] - b->center_x, b->corners[0][1] - b->center_y);
    return hypot(a->center_x - b->center_x, a->center_y - b->center_y) > reach + 0.01;
}

/* Whether the boxes overlap by more than so much; unclear where that is a matter of rounding. Boxes
 * that are turned by quarters and not resized have areas without any. */
static bool overlaps(const tm_posed_hit *a, const tm_posed_hit *b, double most, bool *unclear)
{
    const bool exact = fmod(a->angle, 90) == 0 && fmod(b->angle, 90) == 0 && a->scale == 1 && b->scale == 1;
    corner one[4], other[4], common[24], middle = {0};
    int count = 0;

    if (far_apart(a, b))
        return false;
    corners_of(one, a, a);
    corners_of(other, b, a);
    count = inside(common, one, other);
    count += inside(common + count, other, one);
    count += crossings(common + count, one, other);
    if (!count)
        return false;
    for (int i = 0; i < count; i++) {
        middle.x += common[i].x / count;
        middle.y += common[i].y / count;
    }
    for (int i = 0; i < count; i++)
        common[i].angle = atan2l(common[i].y - middle.y, common[i].x - middle.x);
    qsort(common, (size_t)count, sizeof *common, by_angle);
    long double intersection = count > 2 ? area(common, count) : 0;
    if (exact)
        intersection = roundl(4 * intersection) / 4;
    const long double all = area(one, 4) + area(other, 4) - intersection;
    *unclear = *unclear || (!exact && fabsl(intersection - most * all) < 1e-9L * all);
    return (double)intersection > most * (double)all;
}

/* What search.peaks lets see of the peaks: a number of the first ones. */
static size_t visible(const posed_truth *t, const tm_search *s, bool *more)
{
    const size_t limit = (size_t)s->peaks;
    size_t above = 0;

    while (above < t->count && !(t->peaks[above].score < t->sign * s->min_score))
        above++;
    *more = above > limit;
    if (*more)
        return limit;
    const size_t below = t->count - above;
    return above + (!s->margin ? 0 : below < limit ? below : limit);
}

size_t posed_truth_suppress(const posed_truth *t, const tm_search *s, tm_posed_hit *hits,
                            bool *cut_off, bool *doubtful)
{
    bool more;
    const size_t seen = visible(t, s, &more);
    tm_posed_hit *taken = calloc(seen + 1, sizeof *taken);
    size_t count = 0, hit_count = 0;

    CHECK(taken);
    *doubtful = false;
    for (size_t i = 0; i < seen && (!s->most || count <= (size_t)s->most); i++) {
        bool covered = false;
        for (size_t k = 0; k < count && !covered && s->overlap < 1; k++)
            covered = overlaps(&taken[k], &t->peaks[i], s->overlap, doubtful);
        if (!covered)
            taken[count++] = t->peaks[i];
    }
    for (size_t i = 0; i < count; i++) {
        if ((s->most && i >= (size_t)s->most) || taken[i].score < t->sign * s->min_score)
            break;
        hits[i] = taken[i];
        if (s->margin && i + 1 < count)
            hits[i].margin = t->sign * taken[i + 1].score;
        hit_count++;
    }
    *cut_off = more && !(s->most && hit_count == (size_t)s->most);
    free(taken);
    return hit_count;
}
