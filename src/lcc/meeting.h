/* SPDX-License-Identifier: MIT */
/* Where devices that share a frame tell each other what a window has to score to matter, as each
 * knows of its own rows alone. Nobody has to come: who waits does so for a limited time, and what it then
 * does not know makes it slower, never different. */
#ifndef TMATCH_LCC_MEETING_H
#define TMATCH_LCC_MEETING_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

#include "clock.h"

/* Both are atomic. */
typedef struct tm_meeting {
    int64_t least; /* the greatest that was told; INT64_MIN: nothing yet */
    int missing;   /* devices that may still tell something */
} tm_meeting;

/* A device's own. */
typedef struct tm_seat {
    tm_meeting *meeting; /* NULL: it is alone */
    bool left;           /* it is not missing any more */
} tm_seat;

static inline int64_t tm_seat_least(const tm_seat *seat)
{
    return __atomic_load_n(&seat->meeting->least, __ATOMIC_SEQ_CST);
}

/* Says that this device will tell nothing more that others should wait for. */
static inline void tm_seat_leave(tm_seat *seat)
{
    if (!seat->meeting || seat->left)
        return;
    seat->left = true;
    __atomic_fetch_sub(&seat->meeting->missing, 1, __ATOMIC_SEQ_CST);
}

/* Tells that some window of the map, or as many peaks as are needed, score so much. */
static inline void tm_seat_tell(tm_seat *seat, int64_t least)
{
    int64_t known = tm_seat_least(seat);
    while (known < least && !__atomic_compare_exchange_n(&seat->meeting->least, &known, least, false,
                                                         __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
        ;
    tm_seat_leave(seat);
}

/* Waits until no device is missing, but no longer than that, and returns what is known then. */
static inline int64_t tm_seat_wait(const tm_seat *seat, double ms)
{
    const double end = clock_ms() + ms;
    while (__atomic_load_n(&seat->meeting->missing, __ATOMIC_SEQ_CST) > 0 && clock_ms() < end)
        sched_yield();
    return tm_seat_least(seat);
}

#endif
