/* SPDX-License-Identifier: MIT */
/* Lets a thread be given up that waits in a device's driver, which cannot be told to stop. The thread
 * says when it goes into a call and when it comes out; another one, which sees the same call last too
 * long, gives it up. One of the two comes first: a thread that was given up hears so when its call
 * returns, if ever, and then touches nothing that others have. So what belongs to others is touched
 * outside of calls only, but for what a device copies by itself to and from page-locked memory. */
#ifndef TMATCH_LCC_GUARD_H
#define TMATCH_LCC_GUARD_H

#include <stdbool.h>
#include <stdint.h>

typedef struct tm_guard {
    uint64_t calls; /* twice the calls so far, and 1 more in a call; atomic */
} tm_guard;

#define TM_GUARD_GIVEN_UP UINT64_MAX

static inline uint64_t tm_guard_look(const tm_guard *guard)
{
    return __atomic_load_n(&guard->calls, __ATOMIC_SEQ_CST);
}

static inline bool tm_guard_is_given_up(const tm_guard *guard)
{
    return guard && tm_guard_look(guard) == TM_GUARD_GIVEN_UP;
}

/* Both are the thread's own, and may have NULL: nobody watches. False: it was given up. */
static inline bool tm_guard_enter(tm_guard *guard)
{
    if (!guard)
        return true;
    const uint64_t calls = tm_guard_look(guard);
    if (calls != TM_GUARD_GIVEN_UP)
        __atomic_store_n(&guard->calls, calls + 1, __ATOMIC_SEQ_CST);
    return calls != TM_GUARD_GIVEN_UP;
}

static inline bool tm_guard_leave(tm_guard *guard)
{
    if (!guard)
        return true;
    uint64_t calls = tm_guard_look(guard);
    return calls != TM_GUARD_GIVEN_UP &&
           __atomic_compare_exchange_n(&guard->calls, &calls, calls + 1, false, __ATOMIC_SEQ_CST,
                                       __ATOMIC_SEQ_CST);
}

/* Gives the thread up if it is still in the call that tm_guard_look saw. */
static inline bool tm_guard_give_up(tm_guard *guard, uint64_t seen)
{
    return seen % 2 == 1 && seen != TM_GUARD_GIVEN_UP &&
           __atomic_compare_exchange_n(&guard->calls, &seen, TM_GUARD_GIVEN_UP, false,
                                       __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

#endif
