/* SPDX-License-Identifier: MIT */
/* Preloaded into a program, lets it have only so many threads at a time besides the first:
 * TMATCH_TEST_THREADS. A limit on processes does the same, but counts all of a user's. */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

typedef struct start {
    void *(*run)(void *);
    void *argument;
} start;

static atomic_int running;

static void leave(void *nothing)
{
    (void)nothing;
    atomic_fetch_sub(&running, 1);
}

static void *run_counted(void *argument)
{
    const start s = *(start *)argument;
    void *result;

    free(argument);
    pthread_cleanup_push(leave, NULL);
    result = s.run(s.argument);
    pthread_cleanup_pop(1);
    return result;
}

__attribute__((visibility("default"))) int
pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument)
{
    typedef int create_fn(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    create_fn *create = (create_fn *)dlsym(RTLD_NEXT, "pthread_create");
    const char *most = getenv("TMATCH_TEST_THREADS");
    start *s = malloc(sizeof *s);
    int result = EAGAIN;

    if (!s)
        return result;
    *s = (start){run, argument};
    if (atomic_fetch_add(&running, 1) < (most ? atoi(most) : 0))
        result = create(thread, attributes, run_counted, s);
    if (result != 0) {
        atomic_fetch_sub(&running, 1);
        free(s);
    }
    return result;
}
