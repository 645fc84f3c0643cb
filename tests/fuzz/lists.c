/* SPDX-License-Identifier: MIT */
/* A list of files, whose names lead nowhere but into a folder that has pictures, folders, links and
 * a pipe. */
#include <ctype.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz.h"
#include "message.h"
#include "run/folders.h"
#include "run/operand.h"

enum { MOST_BYTES = 4096 };

static char folder[] = "/tmp/tmatch-fuzz.XXXXXX";
static int outside; /* the folder that the program was started in */

static void make_file(const char *name, const char *text)
{
    FILE *file = fopen(name, "wb");
    FUZZ_CHECK(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

static const char *const files[] = {"a.pgm", "b.pgm", "c", "d/e.pgm", "d/f/g.pgm", "d/h.heic", "x[1x1+0+0]", "#1"};

static void remove_all(void)
{
    if (chdir(folder) != 0)
        return;
    static const char *const others[] = {"pipe", "to_d", "loop", "nowhere.png", "d/f", "d", "empty"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        remove(files[i]);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        remove(others[i]);
    if (fchdir(outside) == 0)
        rmdir(folder);
}

static void make_all(void)
{
    outside = open(".", O_RDONLY | O_CLOEXEC);
    FUZZ_CHECK(outside >= 0 && mkdtemp(folder) && chdir(folder) == 0);
    atexit(remove_all);
    FUZZ_CHECK(mkdir("d", 0777) == 0 && mkdir("d/f", 0777) == 0 && mkdir("empty", 0777) == 0);
    FUZZ_CHECK(mkfifo("pipe", 0666) == 0 && symlink("d", "to_d") == 0 && symlink("loop", "loop") == 0);
    FUZZ_CHECK(symlink("gone", "nowhere.png") == 0);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        make_file(files[i], i == 1 ? "P5 1 1 255 aP5 1 1 255 b" : "P5 1 1 255 a");
}

/* Slashes stay only behind letters, and of dots one at a time: no name begins at the root or climbs. */
static void stay_inside(uint8_t *text, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (text[i] == '/' && (i == 0 || !isalnum(text[i - 1])))
            text[i] = '_';
    for (size_t i = 1; i < size; i++)
        if (text[i] == '.' && text[i - 1] == '.')
            text[i] = '_';
}

static void check_frame(const cli_frame *frame)
{
    cli_operand operand;
    FUZZ_CHECK(frame->path && frame->tree <= strlen(frame->path));
    operand_init(&operand, frame);
    FUZZ_CHECK(operand.path || operand.error.reason[0]);
    FUZZ_CHECK(operand_name(&operand));
    operand_restrict(&operand, &(io_crop){1, 1, 0, 0});
    operand_free(&operand);
}

/* Returns how many frames there are. */
static size_t read_list(const char *path, uint32_t control)
{
    char *said = NULL;
    size_t length;
    FILE *messages = open_memstream(&said, &length);
    cli_frames frames = {.recursive = control & 1, .one_each = control & 2 ? "a template" : NULL, .not_below = {"d/f", NULL}};
    FUZZ_CHECK(messages);
    message_redirect(messages);
    fuzz_fail_allocation(control >> 8 & 63, true);
    const bool good = folders_add_list(&frames, path, control & 4 ? '\0' : '\n');
    fuzz_allocations_succeed();
    folders_note_skipped(&frames, control & 8 ? "d" : NULL);
    message_redirect(NULL);
    FUZZ_CHECK(fclose(messages) == 0 && (good || length > 0));
    for (size_t i = 0; i < frames.count; i++)
        check_frame(&frames.list[i]);
    const size_t count = frames.count;
    frames_free(&frames);
    free(said);
    return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static bool made;
    const uint32_t control = fuzz_control(data, &size);
    char path[FUZZ_PATH];

    if (!made)
        make_all();
    made = true;
    FUZZ_CHECK(chdir(folder) == 0);
    size = size < MOST_BYTES ? size : MOST_BYTES;
    uint8_t *text = fuzz_copy(data, size, false);
    stay_inside(text, size);
    const int fd = fuzz_file(text, size, path);
    read_list(path, control);
    close(fd);
    free(text);
    FUZZ_CHECK(fchdir(outside) == 0);
    return 0;
}
