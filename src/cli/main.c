/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "clock.h"
#include "costs.h"
#include "help.h"
#include "info.h"
#include "io/sandbox/sandbox.h"
#include "message.h"
#include "options.h"
#include "signals.h"
#include "run/engine.h"
#include "run/merge.h"
#include "run/run.h"

/* Where descriptor 0, 1 or 2 is closed, the next file to be opened would get its number: a picture
 * could receive the results. They are opened the wrong way round, so that using them is still an
 * error. */
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
    else
        message(NULL, "out of memory");
    free(sizes);
    return status;
}

static int match(const cli_options *options)
{
    const double begun = clock_ms();
    const cli_exit status = cli_run(options);

    if (status == CLI_FOUND || status == CLI_NOT_FOUND)
        costs_learn(options, engine_devices_used(), clock_ms() - begun, (int)status);
    return (int)status;
}

static int run(const cli_options *options)
{
    bool listed = true;
    switch (options->action) {
    case CLI_HELP: help_print(); break;
    case CLI_VERSION: listed = info_version(); break;
    case CLI_LIST_DEVICES: listed = info_devices(options->verbose, options->settings.costs); break;
    case CLI_CALIBRATE: return costs_calibrate(&options->settings);
    case CLI_BENCH: return measure(options);
    case CLI_MATCH: return match(options);
    case CLI_MERGE: return (int)merge_run(options);
    }
    if (!listed)
        message(NULL, "out of memory");
    return listed ? CLI_FOUND : CLI_FAILED;
}

static bool uses_costs(const cli_options *options)
{
    return options->action == CLI_MATCH || options->action == CLI_BENCH ||
           (options->action == CLI_LIST_DEVICES && options->verbose);
}

int main(int argc, char **argv)
{
    cli_options options;

    if (io_sandbox_is_zygote(argc, argv))
        return io_sandbox_main();
    if (!open_standard_files()) {
        message("/dev/null", "%s", strerror(errno));
        return CLI_FAILED;
    }
    style_init();
    if (!signals_start()) {
        message_no_thread();
        return CLI_FAILED;
    }
    const bool good = cli_options_parse(&options, argc, argv);
    /* A CUDA context of eight queues, the default, takes longer to open and to close, and a matcher
     * has no use for them; but in one queue it would wait for what a device decodes beside it. */
    if (options.decoder == CLI_LIBJPEG)
        setenv("CUDA_DEVICE_MAX_CONNECTIONS", "1", 0);
    char *costs = good && uses_costs(&options) ? costs_read(options.quiet) : NULL;
    options.settings.costs = costs;
    const int status = good ? run(&options) : CLI_FAILED;
    const int cause = errno; /* set where the help could not be written */
    cli_options_free(&options);
    free(costs);

    /* A failed write may show only now, on a full disk or over a network. */
    bool failed = ferror(stdout);
    const bool told = failed && (options.action == CLI_MATCH || options.action == CLI_MERGE);
    errno = 0;
    failed |= fclose(stdout) != 0;
    if (failed && !told)
        message(NULL, "standard output: %s", strerror(errno ? errno : cause ? cause : EIO));
    if (!failed && status == CLI_INTERRUPTED)
        signals_die_interrupted();
    if (engine_device_hangs()) /* the driver would wait for it */
        _exit(failed ? CLI_FAILED : status);
    return failed ? CLI_FAILED : status;
}
