/* SPDX-License-Identifier: MIT */
/* Whole pictures of poses of a large template, as they are needed. */
#include <stdlib.h>

#include "lcc/pose_large.h"

/* Those that are kept take so many bytes at most. */
#define MOST_HELD (INT64_C(256) << 20)

static int64_t bytes_of(const tm_pose_member *member)
{
    return 2 * (int64_t)member->stride * member->height;
}

const tm_pose_member *tm_pose_large_hold(struct tm_pose_large *large, const tm_image *image, const tm_poses *poses,
                                         int64_t pose)
{
    tm_pose_member *member = large->held[pose];
    tm_posed posed;

    if (member)
        return member;
    if (tm_pose_make(&posed, image, tm_poses_turn(poses, pose), &poses->support) != TM_OK)
        return NULL;
    const int64_t size = (int64_t)sizeof *member + tm_pose_taps_size(&posed) + TM_POSE_STRIDE;
    member = malloc((size_t)size);
    if (member) {
        tm_pose_member_make(member, &posed, pose, (int8_t *)(member + 1));
#pragma omp atomic
        large->held_bytes += bytes_of(member);
    }
    tm_posed_free(&posed);
    return large->held[pose] = member;
}

void tm_pose_large_release(struct tm_pose_large *large, int64_t pose)
{
    int64_t held;

#pragma omp atomic read
    held = large->held_bytes;
    if (!large->held[pose] || held <= MOST_HELD)
        return;
#pragma omp atomic
    large->held_bytes -= bytes_of(large->held[pose]);
    free(large->held[pose]);
    large->held[pose] = NULL;
}

static void free_class(tm_large_class *c)
{
    tm_family_free(&c->family);
    free(c->firsts);
    free(c->bundles);
    free(c->parts);
    free(c->first_parts);
    free(c->taps);
    free(c->lengths);
    free(c->turns);
    free(c->most_turns);
}

void tm_pose_large_free(struct tm_pose_large *large)
{
    int64_t poses = 0;

    if (!large)
        return;
    for (int i = 0; i < large->count; i++) {
        poses += large->list[i].poses.count;
        free_class(&large->list[i]);
    }
    for (int64_t i = 0; i < poses && large->reduced && large->held; i++) {
        free(large->reduced[i].taps);
        free(large->held[i]);
    }
    free(large->list);
    free(large->sizes);
    free(large->scorers);
    free(large->reduced);
    free(large->held);
    free(large);
}
