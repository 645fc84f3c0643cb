/* SPDX-License-Identifier: MIT */
#include "lcc/threads.h"

#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* How often to look whether the kernel has forgotten a thread, which takes microseconds; and on a
 * busy machine, how long to wait between. */
enum { QUICK_LOOKS = 100, MOST_LOOKS = 10000, PAUSE_NS = 20000 };

typedef struct trial {
    pthread_mutex_t *gate; /* closed until all are started */
    pthread_t thread;
    pid_t id;
} trial;

static void *wait_at_gate(void *argument)
{
    trial *t = argument;
    t->id = (pid_t)syscall(SYS_gettid);
    pthread_mutex_lock(t->gate);
    pthread_mutex_unlock(t->gate);
    return NULL;
}

/* A thread counts against limits until the kernel has forgotten it, a moment after it was joined. */
static void wait_until_forgotten(pid_t id)
{
    const struct timespec pause = {.tv_nsec = PAUSE_NS};
    for (int i = 0; i < MOST_LOOKS && syscall(SYS_tgkill, getpid(), id, 0) == 0; i++) {
        if (i < QUICK_LOOKS)
            sched_yield();
        else
            nanosleep(&pause, NULL);
    }
}

/* Starts so many threads at once, ends them, and returns how many there were. */
static int try_threads(int count)
{
    pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
    trial *trials = calloc((size_t)count, sizeof *trials);
    int started = 0;

    if (!trials)
        return 0;
    pthread_mutex_lock(&gate);
    for (; started < count; started++) {
        trial *t = &trials[started];
        t->gate = &gate;
        if (pthread_create(&t->thread, NULL, wait_at_gate, t) != 0)
            break;
    }
    pthread_mutex_unlock(&gate);
    for (int i = 0; i < started; i++)
        pthread_join(trials[i].thread, NULL);
    for (int i = 0; i < started; i++)
        wait_until_forgotten(trials[i].id);
    pthread_mutex_destroy(&gate);
    free(trials);
    return started;
}

static pthread_mutex_t starting = PTHREAD_MUTEX_INITIALIZER;

static void hold(void)
{
    pthread_mutex_lock(&starting);
}

static void release(void)
{
    pthread_mutex_unlock(&starting);
}

/* A process is forked between two starts: in the child nobody would open this lock, nor those
 * that OpenMP closes while it starts threads. */
__attribute__((constructor)) static void keep_forks_out(void)
{
    pthread_atfork(hold, release, release);
}

/* OpenMP keeps the threads that it starts for the calling thread's next regions, so those that were
 * tried are its own before another thread tries. */
static int start_team(int had, int wanted)
{
    hold();
    const int possible = had + try_threads(wanted - had);
    int size = 0;
#pragma omp parallel num_threads(possible)
    {
#pragma omp atomic
        size++;
    }
    release();
    return size;
}

int tm_team_size(int wanted)
{
    static _Thread_local int most = 1, had = 1;

    /* Within a region that the caller began there may be no other. */
    if (omp_get_active_level() >= omp_get_max_active_levels())
        return 1;
    if (wanted > most) {
        if (had == most)
            had = start_team(had, wanted);
        most = wanted;
    }
    return wanted < had ? wanted : had;
}
