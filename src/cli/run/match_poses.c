/* SPDX-License-Identifier: MIT */
#include "run/match_poses.h"

#include <string.h>

#include "run/doubt.h"
#include "run/outcome.h"
#include "run/pose.h"
#include "run/verify_poses.h"
#include "run/weak.h"

/* How many pixels of the template count in the pose; its picture was made to be matched. */
static int64_t pixels_of(const tm_posed_template *tmpl, size_t index)
{
    tm_pose pose = {0};
    return tm_posed_template_pose(tmpl, index, &pose) == TM_OK ? pose.pixels : 0;
}

static cli_match match_of(const tm_posed_template *tmpl, const tm_posed_hit *hit,
                          const cli_result *r, const io_crop *crop)
{
    const double x = (double)crop->x, y = (double)crop->y;
    cli_match m = {.x = hit->x + crop->x,
                   .y = hit->y + crop->y,
                   .w = hit->width,
                   .h = hit->height,
                   .pixels = pixels_of(tmpl, hit->pose),
                   .score = hit->score,
                   .margin = hit->margin,
                   .margin_below = hit->margin_below,
                   .dx = hit->fine_x - hit->center_x,
                   .dy = hit->fine_y - hit->center_y,
                   .pose = {.angle = hit->angle,
                            .scale = hit->scale,
                            .fine_angle = hit->fine_angle,
                            .fine_scale = hit->fine_scale,
                            .center = {hit->fine_x + x, hit->fine_y + y}}};

    if (m.dx == 0 && m.dy == 0 && hit->fine_angle == hit->angle && hit->fine_scale == hit->scale)
        for (int i = 0; i < 4; i++) {
            m.pose.corners[i][0] = hit->corners[i][0] + x;
            m.pose.corners[i][1] = hit->corners[i][1] + y;
        }
    else
        pose_corners(&m.pose, r->template_width, r->template_height);
    return m;
}

/* Whether a match is reported. With -n 0 the threshold is the one that suits the pose. */
static bool is_reported(const cli_options *o, const cli_match *m)
{
    if (o->has_min_score)
        return outcome_reaches(o, m->score);
    return !weak_sets_thresholds(o) || m->score >= weak_least_score(m->pixels);
}

static bool take_hits(const cli_engine *e, const tm_posed_template *tmpl, cli_pair *pair,
                      const tm_posed_hits *hits, const io_crop *crop)
{
    cli_result *r = &pair->result;
    bool good = true;

    outcome_of_search(e, r);
    r->poses = tm_posed_template_count(tmpl);
    r->knows_margins = pair->search.margin;
    for (size_t i = 0; i < hits->count && good; i++) {
        const cli_match match = match_of(tmpl, &hits->items[i], r, crop);
        if (is_reported(e->options, &match))
            good = outcome_add(pair, &match);
    }
    if (good && r->match_count == 0) {
        const cli_match best = match_of(tmpl, &hits->best, r, crop);
        r->knows_margins = false;
        good = outcome_add_best(e->options, pair, &best);
    }
    if (hits->cut_off)
        outcome_cut_off(e, r);
    return good;
}

/* The best scores of all poses, a map of the frame's size, if one is asked for. */
static bool make_map(const cli_engine *e, const tm_image *image, const tm_posed_template *tmpl,
                     cli_pair *pair)
{
    if (!e->options->map && !e->options->heatmap)
        return true;
    if (!score_map_create(&pair->map, &e->options->settings, image, 1, 1, &pair->error))
        return false;
    const tm_map view = score_map_view(&pair->map);
    const tm_status status = tm_map_posed(e->matcher, image, tmpl, &view);
    return status == TM_OK || library_fail(&pair->error, e->matcher, status);
}

bool match_poses(const cli_engine *e, const cli_input *frame, const tm_device_image *image, bool color,
                 const io_crop *crop, size_t i, cli_pair *pair)
{
    const tm_posed_template *tmpl = e->posed[color][i];
    tm_posed_hits hits;

    pair->searched = doubt_search(e, i, &pair->result, &pair->search);
    const tm_status status = tm_match_posed(e->matcher, &image->image, tmpl, &pair->search, &hits);
    pair->lasting = status == TM_ERR_NO_POSITION || status == TM_ERR_FRAME_TOO_SMALL;
    if (status != TM_OK)
        return library_fail(&pair->error, e->matcher, status);
    const bool good = take_hits(e, tmpl, pair, &hits, crop) && make_map(e, &image->image, tmpl, pair) &&
                      (!e->options->verify || verify_poses(e, &image->image, tmpl, &hits, pair));
    tm_posed_hits_free(&hits);
    if (!good || !doubt_judge(e, image, color, i, pair))
        return false;
    doubt_hints(e, frame, image, color, i, pair);
    return true;
}
