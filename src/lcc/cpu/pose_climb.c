/* SPDX-License-Identifier: MIT */
/* From a position to the best one nearby. */
#include <omp.h>

#include "integers.h"
#include "lcc/cpu/pose_large.h"
#include "lcc/threads.h"

enum { NEIGHBOURS = 12 }; /* that are tried at a time, at most */

/* A position on the way, by the centre in halves of a pixel. */
typedef struct climber {
    const tm_pose_run *run;
    tm_pose_peak best;
    int64_t step, turn, ratio;
} climber;

/* A position that is to be tried, by the centre likewise. */
typedef struct trial {
    int64_t pose, x, y;
} trial;

/* The corner of the picture, or the nearest that it has. False where it has none. */
static bool spot_of(const climber *k, const trial *t, tm_large_spot *spot)
{
    const tm_pose_families *f = k->run->search->families;
    const tm_pose_member *member = f->large ? NULL : f->members[t->pose];
    tm_geometry g;

    if (!f->large && !member)
        return false;
    const int64_t width = f->large ? f->large->sizes[2 * t->pose] : member->width;
    const int64_t height = f->large ? f->large->sizes[2 * t->pose + 1] : member->height;
    if (!tm_pose_positions_of(k->run->search, width, height, &g))
        return false;
    *spot = (tm_large_spot){.pose = t->pose,
                            .x = (int32_t)clamp((t->x - (width - 1)) / 2, -g.pad_x, g.map_width - 1 - g.pad_x),
                            .y = (int32_t)clamp((t->y - (height - 1)) / 2, -g.pad_y, g.map_height - 1 - g.pad_y)};
    return true;
}

/* Scores a spot; TM_NO_POSE_PEAK if memory ran out. */
static tm_pose_peak try(const climber *k, int thread, const tm_large_spot *spot)
{
    const tm_pose_search *search = k->run->search;
    const tm_pose_families *f = search->families;
    const tm_pose_member *member =
        f->large ? tm_pose_large_hold(f->large, search->image, &f->poses, spot->pose) : f->members[spot->pose];
    return member ? tm_pose_score(k->run, thread, member, spot->x, spot->y) : (tm_pose_peak)TM_NO_POSE_PEAK;
}

/* Tries them, and the best becomes the climber's. Pictures of large templates are made at first, by several threads. Errors:
 * MEMORY, and those of the search's device. */
static tm_status try_all(climber *k, const trial *list, int count)
{
    const tm_pose_search *search = k->run->search;
    const int team = tm_team_size((int)smaller(search->families->large ? k->run->cpu->threads : 1, count));
    tm_large_spot spots[NEIGHBOURS];
    tm_pose_peak found[NEIGHBOURS];
    int some = 0;

    for (int i = 0; i < count; i++)
        some += spot_of(k, &list[i], &spots[some]);
    if (search->device) {
        const tm_status status = tm_large_score_spots(k->run, spots, (size_t)some, found);
        if (status != TM_OK)
            return status;
    } else {
#pragma omp parallel for schedule(dynamic) num_threads(team) if (team > 1)
        for (int i = some - 1; i >= 0; i--)
            found[i] = try(k, omp_get_thread_num(), &spots[i]);
    }
    for (int i = 0; i < some; i++)
        k->best = found[i].value > k->best.value ? found[i] : k->best;
    for (int i = 0; i < some && search->families->large && !search->device; i++) {
        if (spots[i].pose != (int64_t)k->best.pose)
            tm_pose_large_release(search->families->large, spots[i].pose);
    }
    return TM_OK;
}

/* Lists the places and poses around the best one. No pose is there twice but the best one's. */
static int list_neighbours(const climber *k, trial *list)
{
    const tm_poses *poses = &k->run->search->families->poses;
    const tm_pose_peak from = k->best;
    const int64_t angles = poses->angles.count, pose = (int64_t)from.pose;
    const tm_pose_numbers at = tm_poses_numbers(poses, pose);
    int count = 0;

    for (int i = 0; i < 9; i++) {
        if (i != 4)
            list[count++] = (trial){pose, from.x + 2 * (i % 3 - 1) * k->step, from.y + 2 * (i / 3 - 1) * k->step};
    }
    for (int i = -1; i <= 1; i += 2) {
        const int64_t turned = at.scale * angles + (at.angle + i * k->turn + angles) % angles;
        const int64_t sized = at.scale + i * k->ratio;
        if (i < 0 || turned != list[8].pose)
            list[count++] = (trial){turned, from.x, from.y};
        if (sized >= 0 && sized < poses->scales.count)
            list[count++] = (trial){sized * angles + at.angle, from.x, from.y};
    }
    return count;
}

static tm_status climb(climber *k)
{
    tm_status status = TM_OK;

    while (k->best.pose != SIZE_MAX && status == TM_OK) {
        const int64_t value = k->best.value;
        trial list[NEIGHBOURS];
        status = try_all(k, list, list_neighbours(k, list));
        if (k->best.value > value)
            continue;
        if (k->step == 1 && k->turn == 1 && k->ratio == 1)
            break;
        k->step = (k->step + 1) / 2;
        k->turn = (k->turn + 1) / 2;
        k->ratio = (k->ratio + 1) / 2;
    }
    return status;
}

tm_status tm_pose_climb(const tm_pose_run *run, const tm_pose_peak *from, int64_t step, int64_t turn, int64_t ratio,
                        tm_pose_peak *best)
{
    climber k = {.run = run, .best = TM_NO_POSE_PEAK, .step = step, .turn = turn, .ratio = ratio};

    tm_status status = try_all(&k, &(trial){(int64_t)from->pose, from->x, from->y}, 1);
    if (status == TM_OK)
        status = climb(&k);
    *best = k.best;
    return status;
}
