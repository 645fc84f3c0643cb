/* SPDX-License-Identifier: MIT */
/* A decoder makes the same of every file as this process. */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "check.h"
#include "io/io.h"
#include "io/sandbox/sandbox.h"

static io_sandbox *sandbox;

static bool is_same(const io_picture *a, const io_picture *b)
{
    const size_t pixels = (size_t)(a->width * a->height);
    const size_t samples = io_picture_bytes(a) - (a->mask ? pixels : 0);
    return a->width == b->width && a->height == b->height && a->channels == b->channels &&
           io_sample_size(a) == io_sample_size(b) && !a->mask == !b->mask && a->format == b->format &&
           a->alpha_ignored == b->alpha_ignored && a->colored == b->colored && a->orientation == b->orientation &&
           a->as_stored == b->as_stored && memcmp(a->samples, b->samples, samples) == 0 &&
           (!a->mask || memcmp(a->mask, b->mask, pixels) == 0);
}

static void compare(const io_source *source, const io_request *request, const char *name)
{
    const io_limits any = {1 << 22};
    io_picture here = {0}, there = {0};
    io_error error = {.reason = "-"}, its_error = {.reason = "-"};
    io_source boxed = *source;
    boxed.decoder = io_sandbox_decoder(sandbox);
    const bool good = io_decode_as(source, request, &any, &here, &error);
    const bool its_good = io_decode_as(&boxed, request, &any, &there, &its_error);
    const bool same = good == its_good && strcmp(error.reason, its_error.reason) == 0 &&
                      (!good || is_same(&here, &there));
    io_picture_free(&here);
    io_picture_free(&there);
    if (!same)
        check_fail(__FILE__, __LINE__, "%s: %s, and in a sandbox: %s", name, error.reason, its_error.reason);
}

/* What is known of the rows, as text, and then the rows, without those that are passed over. */
enum { HEAD = 128 };

static bool read_all(io_source *source, bool skips, uint8_t **samples, size_t *size, io_error *error)
{
    const io_request request = {.color = IO_RGB};
    const io_limits any = {1 << 22};
    io_rows *rows = NULL;
    *samples = NULL;
    *size = 0;
    bool good = io_rows_open_as(&rows, source, &request, &any, error);
    if (good) {
        const size_t row = (size_t)io_rows_width(rows) * 3;
        *samples = calloc(1, row * (size_t)io_rows_height(rows) + HEAD);
        CHECK(*samples);
        const char *whole = io_rows_whole(rows);
        snprintf((char *)*samples, HEAD, "%s %s %d %d %d %d %d", io_rows_format(rows), whole ? whole : "",
                 io_rows_orientation(rows), io_rows_alpha_ignored(rows), io_rows_colored(rows),
                 io_rows_decoder_bytes(rows), io_rows_sample_size(rows));
        const size_t end = HEAD + row * (size_t)io_rows_height(rows);
        int64_t next = 0, skipped = 0;
        for (*size = HEAD; good && *size < end && next < io_rows_height(rows); *size += good ? row : 0) {
            good = io_rows_skip(rows, skipped, *samples + *size, error) &&
                   io_rows_read(rows, *samples + *size, error);
            next += skipped + 1;
            if (skips && next < io_rows_height(rows)) /* more and more, beyond what is fetched at a time */
                skipped = (2 * skipped + 1) % (io_rows_height(rows) - next);
        }
        io_rows_close(&rows);
    }
    return good;
}

static void compare_rows(const io_source *source, bool skips, const char *name)
{
    io_source here = *source, there = *source;
    uint8_t *samples, *its_samples;
    size_t size, its_size;
    io_error error = {.reason = "-"}, its_error = {.reason = "-"};
    there.decoder = io_sandbox_decoder(sandbox);
    const bool good = read_all(&here, skips, &samples, &size, &error);
    const bool its_good = read_all(&there, skips, &its_samples, &its_size, &its_error);
    const bool same = good == its_good && size == its_size && strcmp(error.reason, its_error.reason) == 0 &&
                      (!size || memcmp(samples, its_samples, size) == 0);
    free(samples);
    free(its_samples);
    if (!same)
        check_fail(__FILE__, __LINE__, "%s by rows: %s, and in a sandbox: %s", name, error.reason,
                   its_error.reason);
}

static int compare_file(const char *path)
{
    const io_request requests[] = {
        {.color = IO_GRAY},
        {.color = IO_RGB, .deep = true, .floats = IO_FLOATS_KEPT},
        {.color = IO_GRAY, .deep = true, .alpha = true, .floats = IO_FLOATS_SHOWN},
        {.color = IO_GRAY, .alpha = true, .stored_orientation = true, .floats = IO_FLOATS_KEPT}};
    io_source source;
    io_error error;
    struct stat status;
    static int files; /* every second one is handed over as a file, others in memory */
    if (stat(path, &status) != 0 || !S_ISREG(status.st_mode) ||
        !(files++ % 2 ? io_source_map : io_source_open)(&source, path, &error))
        return 0;
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++)
        compare(&source, &requests[i], path);
    compare_rows(&source, false, path);
    compare_rows(&source, true, path);
    io_source_close(&source);
    return 1;
}

static int compare_folder(const char *path)
{
    DIR *folder = opendir(path);
    int count = 0;
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        char name[1200];
        snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
        count += compare_file(name);
    }
    if (folder)
        closedir(folder);
    return count;
}

/* Pictures, and what fuzzing begins with and has found: sound files, torn ones and hostile ones. */
static void same(void)
{
    static const char *const formats[] = {"png", "jpeg", "tiff", "bmp", "webp", "pnm", "y4m", "npy", "text"};
    /* folders with ':' between */
    const char *data = getenv("TMATCH_DATA_DIR"), *corpora = getenv("TMATCH_CORPORA");
    io_error error;
    char path[1024];
    int count = 0;
    if (!io_sandbox_open(&sandbox, 0, &error))
        check_skip(error.reason);
    for (const char *at = corpora; at && *at; at += strcspn(at, ":"), at += *at == ':')
        for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
            snprintf(path, sizeof path, "%.*s/%s", (int)strcspn(at, ":"), at, formats[i]);
            count += compare_folder(path);
        }
    count += data ? compare_folder(data) : 0;
    if (count < 10)
        check_skip("TMATCH_DATA_DIR and TMATCH_CORPORA name no pictures");
    io_sandbox_close(&sandbox);
}

int main(int argc, char **argv)
{
    static const check_test tests[] = {TEST(same)};
    if (io_sandbox_is_zygote(argc, argv))
        return io_sandbox_main();
    return check_main(tests, sizeof tests / sizeof *tests, argc, argv);
}
