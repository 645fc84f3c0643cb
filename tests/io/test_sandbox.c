/* SPDX-License-Identifier: MIT */
/* What a decoder does that was taken over is an error of its file alone. */
#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "clock.h"
#include "check.h"
#include "io/sandbox/sandbox.h"
#include "io/sandbox/zygote.h"
#include "misbehave.h"

static io_sandbox *sandbox;
static int64_t most_pixels = 1 << 20;

static void open_sandbox(int64_t max_memory)
{
    io_error error;
    if (!sandbox && !io_sandbox_open(&sandbox, max_memory, &error))
        check_skip(error.reason);
}

static io_source source_of(const void *data, size_t size)
{
    return (io_source){.data = data, .size = size, .decoder = io_sandbox_decoder(sandbox)};
}

/* Has a decoder do the deed, which must fail; returns the reason. */
static const char *reason_of(const char *deed, double ms)
{
    static io_error error;
    static char file[64];
    const io_request request = {.color = IO_GRAY};
    const io_limits limits = {most_pixels};
    io_picture picture;
    snprintf(file, sizeof file, "do %s", deed);
    io_source source = source_of(file, strlen(file));
    source.deadline = ms > 0 ? clock_ms() + ms : 0;
    strcpy(error.reason, "nothing");
    if (io_decode_as(&source, &request, &limits, &picture, &error))
        check_fail(__FILE__, __LINE__, "%s: decoded", deed);
    return error.reason;
}

/* The sandbox still works. */
static void check_works(void)
{
    static const char file[] = "P2 3 1 9 1 2 3";
    const io_request request = {.color = IO_GRAY};
    const io_limits limits = {0};
    const io_source source = source_of(file, strlen(file));
    io_picture picture;
    io_error error;
    if (!io_decode_as(&source, &request, &limits, &picture, &error))
        check_fail(__FILE__, __LINE__, "%s", error.reason);
    CHECK_EQ(picture.samples[2], 85);
    io_picture_free(&picture);
}

static void forbidden(void)
{
    open_sandbox(0);
    CHECK_STR(reason_of("open", 0), "Permission denied");
    CHECK_STR(reason_of("complain", 0), "Permission denied");
    for (int i = 0; misbehave_forbidden[i]; i++)
        if (!strstr(reason_of(misbehave_forbidden[i], 0), "a forbidden system call"))
            check_fail(__FILE__, __LINE__, "%s is not a forbidden system call", misbehave_forbidden[i]);
    check_works();
}

static void crashes(void)
{
    open_sandbox(0);
    CHECK(strstr(reason_of("crash", 0), "killed by signal 11") || !CONFINE_LIMITS_MEMORY);
    CHECK(strstr(reason_of("overflow", 0), "killed by signal 11") || !CONFINE_LIMITS_MEMORY);
    CHECK(strstr(reason_of("abort", 0), "killed by signal 6 (Aborted)"));
    CHECK(strstr(reason_of("leave", 0), "ended without an answer"));
    check_works();
}

static void lies(void)
{
    open_sandbox(0);
    for (int i = 0; misbehave_lies[i]; i++) {
        const char *reason = reason_of(misbehave_lies[i], 0);
        if (!strstr(reason, "makes no sense") && !strstr(reason, "more than the limit") &&
            !strstr(reason, "is empty"))
            check_fail(__FILE__, __LINE__, "%s: %s", misbehave_lies[i], reason);
        check_works();
    }
    /* One that does not end after its answer, and leaves another for the next file. */
    CHECK_STR(reason_of("linger", 0), "?[2J lingers");
    check_works();
}

/* Has a decoder hand out a picture by rows; the reason why it has not, or "" where it has. *width is that of
 * the picture that it told of. */
static const char *rows_reason_of(const char *deed, int64_t *width)
{
    static io_error error;
    static char file[64];
    const io_request request = {.color = IO_GRAY};
    const io_limits limits = {most_pixels};
    io_rows *rows = NULL;
    snprintf(file, sizeof file, "do %s", deed);
    io_source source = source_of(file, strlen(file));
    error.reason[0] = '\0';
    *width = 0;
    if (!io_rows_open_as(&rows, &source, &request, &limits, &error))
        return error.reason;
    *width = io_rows_width(rows);
    uint8_t *row = malloc((size_t)*width);
    CHECK(row && *width > 0 && io_rows_height(rows) > 0 && *width <= most_pixels / io_rows_height(rows));
    bool good = true;
    for (int64_t y = 0; y < io_rows_height(rows) && good; y++)
        good = io_rows_read(rows, row, &error);
    CHECK(good == !error.reason[0]);
    const io_error before = error;
    CHECK(!io_rows_read(rows, row, &error) || good); /* nor does it come to life again */
    error = before;
    free(row);
    io_rows_close(&rows);
    return error.reason;
}

static void lies_of_rows(void)
{
    int64_t width;
    open_sandbox(0);
    CHECK_STR(rows_reason_of("lie-nothing", &width), "");
    CHECK_EQ(width, 4);
    for (int i = 0; misbehave_rows_lies[i]; i++) {
        const char *reason = rows_reason_of(misbehave_rows_lies[i], &width);
        if (!strstr(reason, "makes no sense") && !strstr(reason, "ended without an answer") &&
            !strstr(reason, "signal 6") && reason[strspn(reason, "?")])
            check_fail(__FILE__, __LINE__, "%s: %s", misbehave_rows_lies[i], reason);
        CHECK(reason[0]);
        check_works();
    }
    for (int i = 0; misbehave_lies[i]; i++) {
        const char *reason = rows_reason_of(misbehave_lies[i], &width);
        const bool harmless = strcmp(misbehave_lies[i], "lie-bits") == 0 || strcmp(misbehave_lies[i], "lie-deep") == 0 ||
                              strcmp(misbehave_lies[i], "lie-mask") == 0; /* rows have none of these */
        if (harmless ? reason[0] : !strstr(reason, "makes no sense"))
            check_fail(__FILE__, __LINE__, "%s: %s", misbehave_lies[i], reason);
        check_works();
    }
}

/* What a decoder says of a picture's size does not make the program take more than it may. */
static void lies_of_memory(void)
{
    open_sandbox(0);
    io_sandbox_close(&sandbox);
    open_sandbox(1 << 20);
    most_pixels = (int64_t)1 << 30;
    int64_t width;
    const char *whole = reason_of("lie-wide", 0), *by_rows = rows_reason_of("lie-wide", &width);
    most_pixels = 1 << 20;
    io_sandbox_close(&sandbox);
    CHECK(strstr(whole, "makes no sense"));
    CHECK(strstr(by_rows, "makes no sense"));
}

static void limits(void)
{
    open_sandbox(0);
    for (int i = 0; i < 2; i++) {
        const double start = clock_ms();
        CHECK_STR(reason_of(i ? "wait" : "compute", 50), "takes longer than --max-time-per-frame allows");
        CHECK(clock_ms() - start < 30000);
    }
    check_works();
    if (!CONFINE_LIMITS_MEMORY)
        check_skip("memory is not limited under sanitizers");
    /* 16 MiB by the pixels, 64 for small pictures, 256 for libraries, and what samples may take */
    const int taken = atoi(reason_of("eat", 0));
    CHECK(taken > 64 && taken < 500);
}

/* The first process whose parent that is; 0: there is none. */
static pid_t child_of(pid_t parent)
{
    DIR *all = opendir("/proc");
    pid_t found = 0;
    CHECK(all);
    for (struct dirent *entry; (entry = readdir(all)) && !found;) {
        char path[300];
        int its_parent = 0;
        snprintf(path, sizeof path, "/proc/%s/stat", entry->d_name);
        FILE *file = atoi(entry->d_name) > 0 ? fopen(path, "r") : NULL;
        if (file && fscanf(file, "%*d (%*[^)]) %*c %d", &its_parent) == 1 && its_parent == parent)
            found = atoi(entry->d_name);
        if (file)
            fclose(file);
    }
    closedir(all);
    return found;
}

typedef struct killer {
    int kills;
    bool zygote;
    atomic_bool over;
} killer;

/* Those that have worked for a while: a new zygote tries its filter with a short-lived one. */
static void *kill_decoders(void *data)
{
    killer *k = data;
    pid_t last = 0;
    for (int i = 0, seen = 0; i < k->kills && !k->over; usleep(5000)) {
        const pid_t zygote = child_of(getpid()), decoder = zygote ? child_of(zygote) : 0;
        seen = decoder && decoder == last ? seen + 1 : 0;
        last = decoder;
        if (seen == 20 && kill(k->zygote ? zygote : decoder, SIGKILL) == 0)
            i++;
    }
    return NULL;
}

/* What ends after a second where one kill is survived; what does not end by itself where two are not. */
static bool decode_slowly(int kills, bool zygote, io_error *error)
{
    const char *file = kills > 1 ? "do compute" : "do slow";
    const io_request request = {.color = IO_GRAY};
    const io_limits any = {0};
    const io_source source = source_of(file, strlen(file));
    io_picture picture;
    killer k = {.kills = kills, .zygote = zygote};
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, kill_decoders, &k) == 0);
    const bool good = io_decode_as(&source, &request, &any, &picture, error);
    k.over = true;
    pthread_join(thread, NULL);
    if (good)
        io_picture_free(&picture);
    return good;
}

/* A decoder that is killed from outside, or its zygote, is started once more, and one that was idle is
 * not missed. */
static void kills(void)
{
    io_error error;
    open_sandbox(0);
    io_sandbox_close(&sandbox);
    open_sandbox(0);
    CHECK(decode_slowly(1, false, &error));
    CHECK(decode_slowly(1, true, &error));
    CHECK(!decode_slowly(2, false, &error));
    CHECK_STR(error.reason, "the process that decodes it was killed by signal 9 (Killed)");
    CHECK(error.passing);
    CHECK(!decode_slowly(2, true, &error));
    CHECK_STR(error.reason, "the process that decodes it was killed");
    check_works();
    kill(child_of(getpid()), SIGKILL);
    check_works();
}

static int count_descriptors(void)
{
    int count = 0;
    DIR *all = opendir("/proc/self/fd");
    CHECK(all);
    while (readdir(all))
        count++;
    closedir(all);
    return count;
}

/* What zygotes leave behind would become this process's, as of a program that is a container's first. */
static void leaves_nothing(void)
{
    io_sandbox_close(&sandbox);
    CHECK(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0);
    const int before = count_descriptors();
    open_sandbox(0);
    for (int i = 0; i < 20; i++) {
        reason_of(i % 4 == 0 ? "crash" : i % 4 == 1 ? "lie-huge" : i % 4 == 2 ? "lie-short" : "fork", 0);
        check_works();
    }
    reason_of("wait", 50);
    reason_of("compute", 50);
    io_sandbox_close(&sandbox);
    CHECK_EQ(count_descriptors(), before);
    CHECK_EQ(child_of(getpid()), 0);
    prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0);
}

int main(int argc, char **argv)
{
    static const check_test tests[] = {TEST(forbidden), TEST(crashes), TEST(lies), TEST(lies_of_rows), TEST(lies_of_memory),
                                       TEST(limits), TEST(kills), TEST(leaves_nothing)};
    if (io_sandbox_is_zygote(argc, argv))
        return sandbox_zygote(&(sandbox_calls){misbehave, misbehave_by_rows});
    const int result = check_main(tests, sizeof tests / sizeof *tests, argc, argv);
    io_sandbox_close(&sandbox);
    return result;
}
