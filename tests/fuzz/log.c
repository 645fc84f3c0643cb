/* SPDX-License-Identifier: MIT */
/* A log of --resume: what is no log stays as it is; what is one keeps its lines, and those that are
 * added are found again. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz.h"
#include "message.h"
#include "run/resume.h"

#define RESULT LOG_LINE_START "\"a.png\",\"template\":\"t.png\",\"matches\":[{\"x\":1,\"y\":2,\"score\":1}]"

typedef struct log_file {
    int fd;
    char path[FUZZ_PATH];
    char *text; /* as it was when it was read, with a 0 behind */
    size_t size;
} log_file;

static void read_all(log_file *log)
{
    struct stat status;
    FUZZ_CHECK(fstat(log->fd, &status) == 0);
    free(log->text);
    log->size = (size_t)status.st_size;
    FUZZ_CHECK((log->text = malloc(log->size + 1)));
    FUZZ_CHECK(pread(log->fd, log->text, log->size, 0) == status.st_size);
    log->text[log->size] = '\0';
}

/* A line that is sound is so with an end that we write. */
static void check_line(const log_line *line, const char *text, size_t length)
{
    const size_t result = log_line_result(text, length);
    char *again = NULL;
    size_t size;
    FILE *file = open_memstream(&again, &size);
    log_line second;
    FUZZ_CHECK(result < length && file);
    fwrite(text, 1, result, file);
    log_line_end(file, text, result, line->id);
    FUZZ_CHECK(fclose(file) == 0 && size > 0 && again[size - 1] == '\n');
    again[--size] = '\0';
    FUZZ_CHECK(log_line_parse(&second, again, size));
    FUZZ_CHECK(second.id == line->id && second.matches == line->matches && second.failed == line->failed);
    free(again);
}

/* All ids of sound lines are known, and some line of an id is its text. */
static void check_lines(const log_file *log, const cli_resume *resume)
{
    const char *next;
    for (char *at = log->text; (next = memchr(at, '\n', log->size - (size_t)(at - log->text))); at += next + 1 - at) {
        const size_t length = (size_t)(next - at);
        char *text = (char *)fuzz_copy((uint8_t *)at, length, true);
        log_line line;
        if (log_line_parse(&line, text, length)) {
            check_line(&line, text, length);
            const log_line *found = resume_find(resume, line.id);
            FUZZ_CHECK(!line.id == !found);
            char *whole = found ? resume_text(resume, found) : NULL;
            FUZZ_CHECK(!found || (whole && strlen(whole) <= found->length));
            free(whole);
        }
        free(text);
    }
}

static bool open_log(cli_resume **resume, const log_file *log, uint32_t control)
{
    static uint8_t sample = 7;
    cli_template tmpl = {.width = 1, .height = 1, .usable = true,
                         .input = {.gray = {.width = 1, .height = 1, .channels = 1, .bits = 8, .samples = &sample}}};
    const cli_templates templates = {&tmpl, 1, 1};
    const cli_options options = {.resume = log->path, .fingerprint = 1};
    char *said = NULL;
    size_t length;
    FILE *messages = open_memstream(&said, &length);
    FUZZ_CHECK(messages);
    message_redirect(messages);
    fuzz_fail_allocation(control & 15, true);
    const bool good = resume_open(resume, &options, &templates, NULL, NULL, NULL);
    const bool starved = fuzz_allocations_succeed();
    message_redirect(NULL);
    FUZZ_CHECK(fclose(messages) == 0 && (good || length > 0) && (good || !*resume));
    free(said);
    return good || (starved && open_log(resume, log, 0));
}

/* Adds a line. */
static void append(cli_resume *resume, uint64_t id)
{
    char *line = NULL;
    size_t size;
    FILE *file = open_memstream(&line, &size);
    FUZZ_CHECK(file && fputs(RESULT, file) >= 0);
    log_line_end(file, RESULT, strlen(RESULT), id);
    FUZZ_CHECK(fclose(file) == 0 && resume_append(resume, line, size));
    free(line);
}

static void use(log_file *log, uint32_t control)
{
    const uint64_t id = UINT64_C(0xfeedfacecafe0000) + control % 7;
    cli_resume *resume;
    const log_file before = *log;

    log->text = NULL;
    if (!open_log(&resume, log, control)) {
        read_all(log);
        FUZZ_CHECK(log->size == before.size && memcmp(log->text, before.text, log->size) == 0);
        free(before.text);
        return;
    }
    read_all(log);
    FUZZ_CHECK(log->size <= before.size && memcmp(log->text, before.text, log->size) == 0);
    FUZZ_CHECK(log->size == 0 || log->text[log->size - 1] == '\n');
    FUZZ_CHECK(!memchr(before.text + log->size, '\n', before.size - log->size));
    free(before.text);
    check_lines(log, resume);
    append(resume, id);
    FUZZ_CHECK(resume_close(&resume));

    FUZZ_CHECK(open_log(&resume, log, 0));
    check_lines(log, resume);
    const log_line *line = resume_find(resume, id);
    FUZZ_CHECK(line && line->offset == (off_t)log->size && line->matches == 1 && !line->failed);
    char *text = resume_text(resume, line);
    FUZZ_CHECK(text && strncmp(text, RESULT, strlen(RESULT)) == 0);
    free(text);
    FUZZ_CHECK(resume_close(&resume));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint32_t control = fuzz_control(data, &size);
    log_file log = {0};
    log.fd = fuzz_file(data, size, log.path);
    read_all(&log);
    use(&log, control);
    close(log.fd);
    free(log.text);
    return 0;
}
