/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "info.h"
#include "io/io.h"
#include "message.h"
#include "options.h"
#include "run.h"

static pthread_t main_thread;

/* Dies by the same signal, as the shell expects. Always in the main thread, the
 * one that makes files: so none is made after this has removed them, and no
 * second signal ends the process while it does. */
static void die_cleanly(int number)
{
    if (!pthread_equal(pthread_self(), main_thread)) {
        pthread_kill(main_thread, number);
        return;
    }
    io_output_abort_all();
    signal(number, SIG_DFL);
    raise(number); /* blocked until the handler returns */
}

static void catch_signals(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action = {.sa_handler = die_cleanly, .sa_flags = SA_RESTART};

    main_thread = pthread_self();
    sigfillset(&action.sa_mask);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct sigaction before;
        /* nohup and a shell's background jobs ignore some: leave it so. */
        if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(numbers[i], &action, NULL);
    }
}

/* A picture opened as descriptor 1, because there was none, would receive the
 * results. Opened the wrong way round, so that using them is still an error. */
static bool open_standard_files(void)
{
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY) != fd)
            return false;
    return true;
}

static int measure(const cli_options *options)
{
    char *sizes = NULL;
    size_t length;
    FILE *joined = open_memstream(&sizes, &length);

    if (!joined) {
        message(NULL, "out of memory");
        return CLI_FAILED;
    }
    for (int i = 0; i < options->frame_count; i++)
        fprintf(joined, "%s ", options->frames[i]);
    int status = CLI_FAILED;
    if (fclose(joined) == 0)
        status = cli_bench(options->frame_count ? sizes : NULL, &options->settings);
    free(sizes);
    return status;
}

static int run(const cli_options *options)
{
    bool listed = true;
    switch (options->action) {
    case CLI_HELP: info_help(); break;
    case CLI_VERSION: listed = info_version(); break;
    case CLI_LIST_DEVICES: listed = info_devices(); break;
    case CLI_BENCH: return measure(options);
    case CLI_MATCH: return (int)cli_run(options);
    }
    if (!listed)
        message(NULL, "out of memory");
    return listed ? CLI_FOUND : CLI_FAILED;
}

int main(int argc, char **argv)
{
    cli_options options;

    if (!open_standard_files())
        return CLI_FAILED;
    catch_signals();
    const int status = cli_options_parse(&options, argc, argv) ? run(&options) : CLI_FAILED;
    cli_options_free(&options);

    /* A failed write may show only now, on a full disk or over a network. */
    bool failed = ferror(stdout);
    const bool told = failed && options.action == CLI_MATCH;
    errno = 0;
    failed |= fclose(stdout) != 0;
    if (failed && !told)
        message(NULL, "standard output: %s", strerror(errno ? errno : EIO));
    return failed ? CLI_FAILED : status;
}
