/* SPDX-License-Identifier: MIT */
/* Large classes whose bundles a device looks at: what it lists is looked at further here. */
#include <math.h>
#include <omp.h>
#include <stdlib.h>

#include "lcc/cpu/pose_large.h"
#include "lcc/threads.h"

/* Describes the windows of all frames of cells. */
static void describe(tm_large_run *r)
{
    const tm_large_class *c = r->class;
    const int across = c->side / c->reach;
    tm_large_look *look = &r->look;

    look->of = c;
    look->image = r->run->search->image;
    look->support = &r->run->search->families->poses.support;
    look->frame = r->looked ? NULL : r->run->search->frame;
    look->squares = r->squares.before;
    look->squares_across = r->squares.across;
    look->squares_down = r->squares.down;
    look->count = across * across;
    for (int i = 0; i < look->count; i++) {
        tm_family_search s = {0};
        tm_image images[2];
        r->cells = &r->frames[i];
        tm_large_describe(r, &s, images);
        const bool some = s.width > 0 && s.height > 0;
        look->windows[i] = (tm_large_windows){r->cells, s.x, s.y, some ? s.width : 0, some ? s.height : 0};
    }
}

tm_status tm_large_look_at(tm_large_run *r)
{
    const tm_large_device *d = r->run->search->device;
    tm_large_look *look = &r->look;

    if (r->looked == r->class)
        return TM_OK;
    describe(r);
    const size_t count = (size_t)(look->windows->width * look->windows->height);
    free(look->bounds);
    free(look->bundles);
    look->bounds = malloc((count + 1) * sizeof *look->bounds);
    look->bundles = malloc((count + 1) * sizeof *look->bundles);
    if (!look->bounds || !look->bundles)
        return TM_ERR_MEMORY;
    const tm_status status = d->look(d->context, look);
    r->looked = status == TM_OK ? r->class : NULL;
    return status;
}

/* Looks at the windows of a frame of cells. */
static void visit_frame(tm_large_run *r, const tm_large_list *list, int frame)
{
    const int team = tm_team_size((int)smaller(r->run->cpu->threads, (int64_t)list->count));

    r->cells = r->look.windows[frame].cells;
#pragma omp parallel for schedule(dynamic, 16) num_threads(team) if (team > 1)
    for (size_t i = 0; i < list->count; i++) {
        const tm_large_passed *passed = &list->windows[i];
        if (passed->frame == frame)
            tm_large_visit(r, omp_get_thread_num(),
                           &(tm_family_window){.x = passed->x,
                                               .y = passed->y,
                                               .members = list->bundles + passed->first,
                                               .bounds = list->bounds + passed->first,
                                               .count = (int)passed->count});
    }
}

tm_status tm_large_visit_listed(tm_large_run *r, float least)
{
    const tm_large_device *d = r->run->search->device;
    tm_large_list list = {.least = least - r->class->family.error - TM_FAMILY_ROUNDING};

    tm_status status = tm_large_look_at(r);
    list.angle = tm_large_angle_now(r, &list.core);
    if (status == TM_OK)
        status = d->list(d->context, &list);
    r->run->declined = r->run->declined || list.too_many;
    for (int i = 0; i < r->look.count && status == TM_OK && list.count && !r->run->declined; i++)
        visit_frame(r, &list, i);
    free(list.windows);
    free(list.bundles);
    free(list.bounds);
    return status;
}
