/* SPDX-License-Identifier: MIT */
#include "signals.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "io/io.h"

static sigset_t caught;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void (*on_interrupt)(void *data);
static void *interrupt_data;
static int taken; /* the signal that stopped the work in good order */

_Noreturn static void die(int number)
{
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, number);
    signal(number, SIG_DFL);
    raise(number);
    pthread_sigmask(SIG_UNBLOCK, &one, NULL);
    abort(); /* not reached: the signal was pending */
}

/* Stops the work in good order, if somebody does that; false if not. It does so once: a second
 * signal ends the process. */
static bool interrupt(int number)
{
    pthread_mutex_lock(&lock);
    void (*stop)(void *) = number == SIGINT || number == SIGTERM ? on_interrupt : NULL;
    on_interrupt = NULL;
    if (stop)
        taken = number;
    if (stop)
        stop(interrupt_data);
    pthread_mutex_unlock(&lock);
    return stop != NULL;
}

static void *wait_for_signals(void *nothing)
{
    int number;
    while (sigwait(&caught, &number) != 0 || interrupt(number))
        ;
    io_output_abort_all();
    die(number);
    return nothing;
}

/* Handles SIGPIPE. It is raised where results are written whose reader has left, in a thread that
 * holds no lock that io_output_abort_all needs. */
static void leave_nothing(int number)
{
    io_output_abort_all();
    raise(number); /* ends the process when this returns */
}

bool signals_start(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction broken_pipe = {.sa_handler = leave_nothing, .sa_flags = (int)SA_RESETHAND};
    struct sigaction inherited;
    pthread_t thread;

    sigemptyset(&broken_pipe.sa_mask);
    if (sigaction(SIGPIPE, NULL, &inherited) == 0 && inherited.sa_handler == SIG_DFL)
        sigaction(SIGPIPE, &broken_pipe, NULL);
    /* Beyond a limit on the size of files, writing then fails as on a full disk. */
    signal(SIGXFSZ, SIG_IGN);

    sigemptyset(&caught);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct sigaction before;
        /* nohup and a shell's background jobs ignore some: leave it so. */
        if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaddset(&caught, numbers[i]);
    }
    return pthread_sigmask(SIG_BLOCK, &caught, NULL) == 0 &&
           pthread_create(&thread, NULL, wait_for_signals, NULL) == 0 &&
           pthread_detach(thread) == 0;
}

void signals_on_interrupt(void (*stop)(void *data), void *data)
{
    pthread_mutex_lock(&lock);
    on_interrupt = stop;
    interrupt_data = data;
    pthread_mutex_unlock(&lock);
}

_Noreturn void signals_die_interrupted(void)
{
    die(taken);
}
