/* SPDX-License-Identifier: MIT */
#include "batch/page.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "batch/link.h"
#include "message.h"
#include "page_text.h"
#include "report.h"
#include "text.h"

/* Frames whose thumbnails share an element: what the page decodes at a time. */
enum { CHUNK = 48 };

struct cli_page {
    const cli_plan *plan;
    io_output output;
    cli_link link;
    FILE *thumbs; /* of the chunk */
    char *text;
    size_t text_size;
    int in_chunk;
    bool failed; /* to be written, which was said */
};

static bool fail(const cli_page *page, const char *reason)
{
    message(page->plan->options->report, "%s", reason);
    return false;
}

static void put_base64(FILE *out, const char *data, size_t size)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char *bytes = (const unsigned char *)data;
    for (size_t i = 0; i < size; i += 3) {
        const unsigned n = (unsigned)bytes[i] << 16 | (i + 1 < size ? (unsigned)bytes[i + 1] << 8 : 0) |
                           (i + 2 < size ? bytes[i + 2] : 0);
        putc(digits[n >> 18], out);
        putc(digits[n >> 12 & 63], out);
        putc(i + 1 < size ? digits[n >> 6 & 63] : '=', out);
        putc(i + 2 < size ? digits[n & 63] : '=', out);
    }
}

/* JSON inside an element: its strings may say "</script>". */
static void put_json(FILE *out, const char *json, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (json[i] == '<')
            fputs("\\u003c", out);
        else
            putc(json[i], out);
    }
}

/* What a browser shows: 8 bits a sample. */
static bool put_picture(FILE *out, const io_picture *picture)
{
    io_picture shown = *picture;
    io_error error;
    const size_t count = (size_t)(picture->width * picture->height * picture->channels);

    if (io_sample_size(picture) == 1)
        return io_encode(picture, "template.png", out, &error);
    shown.samples = malloc(count * (size_t)io_sample_size(picture));
    if (picture->bits == 32 && shown.samples) {
        memcpy(shown.samples, picture->samples, count * sizeof(float));
        io_show_floats(&shown);
    }
    shown.bits = 8;
    for (size_t i = 0; picture->bits == 16 && shown.samples && i < count; i++)
        shown.samples[i] = (uint8_t)(((const uint16_t *)(const void *)picture->samples)[i] >> 8);
    const bool written = shown.samples && io_encode(&shown, "template.png", out, &error);
    free(shown.samples);
    return written;
}

static bool put_template(FILE *out, const cli_template *tmpl)
{
    char *png = NULL;
    size_t size;
    FILE *memory = open_memstream(&png, &size);
    bool good = memory != NULL;

    fputs("{\"name\":", out);
    text_json(out, tmpl->operand.given);
    fputs(",\"data\":\"", out);
    if (good && tmpl->input.gray.samples)
        good = put_picture(memory, &tmpl->input.gray);
    good = memory && fclose(memory) == 0 && good;
    if (good && size > 0) {
        fputs("data:image/png;base64,", out);
        put_base64(out, png, size);
    }
    fputs("\"}", out);
    free(png);
    return good;
}

static bool put_templates(cli_page *page)
{
    const cli_templates *templates = page->plan->templates;
    char *json = NULL;
    size_t size;
    FILE *memory = open_memstream(&json, &size);
    bool good = memory != NULL;

    for (size_t i = 0; i < templates->count && good; i++) {
        putc(i ? ',' : '[', memory);
        good = put_template(memory, &templates->list[i]);
    }
    good = memory && fclose(memory) == 0 && good;
    if (good) {
        fputs("<script type=\"application/json\" id=\"templates\">\n", page->output.file);
        put_json(page->output.file, json, size);
        fputs("]\n</script>\n", page->output.file);
    }
    free(json);
    return good;
}

bool page_open(cli_page **page, const cli_plan *plan)
{
    const char *path = plan->options->report;
    cli_page *p = *page = calloc(1, sizeof *p);
    io_error error;

    if (!p) {
        message(NULL, "%s", tm_strerror(TM_ERR_MEMORY));
        return false;
    }
    p->plan = plan;
    const bool linked = link_init(&p->link, path);
    p->thumbs = open_memstream(&p->text, &p->text_size);
    if (!io_output_open(&p->output, path, &error)) {
        p->output = (io_output){0};
        fail(p, error.reason);
    } else if (linked && p->thumbs) {
        fwrite(page_head, 1, sizeof page_head, p->output.file);
        if (put_templates(p))
            return true;
        fail(p, tm_strerror(TM_ERR_MEMORY));
    }
    page_close(page, false);
    return false;
}

/* Writes what is in the buffer and this, as only then errno says why it cannot be. */
static bool put(cli_page *page, const void *data, size_t size)
{
    FILE *out = page->output.file;
    errno = 0;
    if (!page->failed && (fflush(out) != 0 || fwrite(data, 1, size, out) != size ||
                          fflush(out) != 0 || ferror(out))) {
        page->failed = true;
        fail(page, strerror(errno ? errno : EIO));
    }
    return !page->failed;
}

static bool end_chunk(cli_page *page)
{
    FILE *out = page->output.file;
    if (page->in_chunk == 0)
        return !page->failed;
    fputs("</script>\n<script type=\"text/plain\" class=\"thumbs\">\n", out);
    if (fflush(page->thumbs) == 0)
        put(page, page->text, page->text_size);
    fputs("</script>\n", out);
    rewind(page->thumbs);
    page->in_chunk = 0;
    return !page->failed;
}

bool page_close(cli_page **page, bool keep)
{
    cli_page *p = *page;
    io_error error;
    bool good = true;

    if (!p)
        return true;
    if (p->output.file) {
        if (!keep)
            io_output_abort(&p->output);
        else if (end_chunk(p) && put(p, page_tail, sizeof page_tail))
            good = io_output_commit(&p->output, &error) || fail(p, error.reason);
        else
            io_output_abort(&p->output);
        good = good && !p->failed;
    }
    if (p->thumbs)
        fclose(p->thumbs);
    free(p->text);
    link_free(&p->link);
    free(p);
    *page = NULL;
    return good;
}

static void put_pair(FILE *out, const cli_plan *plan, const cli_pair *pair)
{
    char *json = NULL;
    size_t size;
    FILE *memory = open_memstream(&json, &size);

    if (memory) {
        report_constant(plan->options, memory, &pair->result, pair->done ? NULL : pair->error.reason);
        if (fclose(memory) == 0)
            put_json(out, json, size);
        free(json);
    }
    putc('}', out);
}

/* The lines of the log, of which the first tells the frame's size. */
static bool put_earlier(cli_page *page, const cli_job *job)
{
    static const char key[] = "\"frame_size\":[";
    FILE *out = page->output.file;
    bool good = true, first = true;

    for (size_t i = 0; i < page->plan->templates->count && good; i++) {
        const log_line *line = resume_find(page->plan->resume, job->ids[i]);
        char *text = resume_text(page->plan->resume, line);
        int64_t size[2] = {0, 0};
        const char *found = text ? strstr(text, key) : NULL;
        good = text != NULL;
        if (found)
            sscanf(found + sizeof key - 1, "%" SCNd64 ",%" SCNd64, &size[0], &size[1]);
        if (first)
            fprintf(out, ",%" PRId64 ",%" PRId64, size[0], size[1]);
        first = false;
        putc(',', out);
        if (text)
            put_json(out, text, log_line_result(text, line->length));
        putc('}', out);
        free(text);
    }
    return good || fail(page, "the log cannot be read");
}

bool page_add(cli_page *page, const cli_job *job)
{
    FILE *out = page->output.file;
    const cli_result *first = &job->pairs[0].result;
    bool good = true;

    if (page->in_chunk == 0)
        fputs("<script type=\"text/plain\" class=\"frames\">\n", out);
    fputs("[\"", out);
    link_put(&page->link, out, job->operand.path ? job->operand.path : job->operand.given);
    putc('"', out);
    if (job->skipped) {
        good = put_earlier(page, job);
    } else {
        fprintf(out, ",%" PRId64 ",%" PRId64, first->frame_width, first->frame_height);
        for (size_t i = 0; i < page->plan->templates->count; i++) {
            putc(',', out);
            put_pair(out, page->plan, &job->pairs[i]);
        }
    }
    fputs("]\n", out);
    if (job->thumb_size > 0)
        put_base64(page->thumbs, job->thumb, job->thumb_size);
    else
        putc('-', page->thumbs);
    putc('\n', page->thumbs);
    good = put(page, "", 0) && good;
    if (++page->in_chunk == CHUNK)
        good = end_chunk(page) && good;
    return good;
}
