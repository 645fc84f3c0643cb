/* SPDX-License-Identifier: MIT */
#include "match/forked.h"

#include <pthread.h>
#include <stdbool.h>

#include "lcc/threads.h"

static _Thread_local bool inherited;
static unsigned forks; /* changes only where the process has one thread */

static void count_fork(void)
{
    inherited = true;
    forks++;
}

/* As early as possible: a program may use OpenMP and fork before it makes a matcher. */
__attribute__((constructor)) static void watch_forks(void)
{
    pthread_atfork(NULL, NULL, count_fork);
}

unsigned tm_forks(void)
{
    return forks;
}

typedef struct call {
    tm_status (*work)(void *context);
    void *context;
    tm_status status;
} call;

static void *run(void *argument)
{
    call *c = argument;
    c->status = c->work(c->context);
    return NULL;
}

tm_status tm_run_forked(tm_matcher *matcher, tm_status (*work)(void *context), void *context)
{
    call c = {.work = work, .context = context};
    pthread_t thread;

    if (!inherited)
        return work(context);
    if (pthread_create(&thread, NULL, run, &c) != 0)
        return tm_matcher_fail(matcher, TM_ERR_MEMORY, TM_NO_THREAD);
    pthread_join(thread, NULL);
    return c.status;
}
