/* SPDX-License-Identifier: MIT */
#include "run/page/page.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"
#include "page_text.h"
#include "run/intervals_print.h"
#include "run/page/link.h"
#include "run/page/page_head.h"
#include "run/report.h"

/* So many thumbnails are in one element, which the page decodes at a time. */
enum { CHUNK = 48 };

struct cli_page {
    const cli_plan *plan;
    io_output output;
    cli_link link;
    FILE *thumbs; /* the chunk's thumbnails */
    char *text;
    size_t text_size;
    int in_chunk;
    bool failed; /* writing failed, which was said */
};

static bool fail(const cli_page *page, const char *reason)
{
    message(page->plan->options->report, "%s", reason);
    return false;
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
        if (page_put_head(p->output.file, plan))
            return true;
        fail(p, tm_strerror(TM_ERR_MEMORY));
    }
    page_close(page, NULL, false, false);
    return false;
}

/* Writes the buffer and then this, as errno says only so why writing failed. */
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

/* Writes the list of appearances, if there are movies. */
static bool put_intervals(cli_page *page, const cli_intervals *intervals)
{
    const cli_options *o = page->plan->options;
    FILE *out = page->output.file, *memory;
    char *json = NULL;
    size_t size;

    if (!intervals || !intervals_movies(intervals))
        return true;
    fputs("<script type=\"application/json\" id=\"appearances\">\n[", out);
    fputs(intervals_kept(intervals) ? "[" : "", out);
    for (const cli_appearance *a = intervals_kept(intervals); a; a = a->next) {
        memory = open_memstream(&json, &size);
        if (memory)
            intervals_print_json(o, memory, a);
        const bool good = memory && fclose(memory) == 0;
        if (good)
            page_put_json(out, json, size);
        free(json);
        if (!good)
            return fail(page, tm_strerror(TM_ERR_MEMORY));
        fputs(",\"", out);
        if (a->still)
            link_put(&page->link, out, a->still);
        fputs(a->next ? "\"],\n[" : "\"]", out);
    }
    fputs("]\n</script>\n", out);
    return put(page, "", 0);
}

bool page_close(cli_page **page, const cli_intervals *intervals, bool keep, bool interrupted)
{
    cli_page *p = *page;
    static const char cut_short[] = "<script type=\"text/plain\" id=\"interrupted\"></script>\n";
    io_error error;
    bool good = true;

    if (!p)
        return true;
    if (p->output.file) {
        if (!keep)
            io_output_abort(&p->output);
        else if (end_chunk(p) && put_intervals(p, intervals) && (!interrupted || put(p, cut_short, strlen(cut_short))) &&
                 put(p, page_tail, sizeof page_tail))
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
            page_put_json(out, json, size);
        free(json);
    }
    putc('}', out);
}

/* Writes what the log says of the frame, without ids and sums, as if this run had matched it. */
static bool put_earlier(cli_page *page, const cli_job *job)
{
    static const char key[] = "\"frame_size\":[";
    const size_t count = page->plan->templates->count;
    int64_t size[2] = {job->pairs[0].result.frame_width, job->pairs[0].result.frame_height};
    FILE *out = page->output.file;
    char **texts = calloc(count + 1, sizeof *texts);
    bool good = texts != NULL;

    for (size_t i = 0; i < count && good; i++) {
        texts[i] = resume_text(page->plan->resume, resume_find(page->plan->resume, job->ids[i]));
        good = texts[i] != NULL;
        const char *found = good ? strstr(texts[i], key) : NULL;
        if (found)
            sscanf(found + sizeof key - 1, "%" SCNd64 ",%" SCNd64, &size[0], &size[1]);
    }
    fprintf(out, ",%" PRId64 ",%" PRId64, size[0], size[1]);
    for (size_t i = 0; i < count && texts; i++) {
        if (good) {
            putc(',', out);
            page_put_json(out, texts[i], log_line_result(texts[i], strlen(texts[i])));
            putc('}', out);
        }
        free(texts[i]);
    }
    free(texts);
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
        page_put_base64(page->thumbs, job->thumb, job->thumb_size);
    else
        putc('-', page->thumbs);
    putc('\n', page->thumbs);
    good = put(page, "", 0) && good;
    if (++page->in_chunk == CHUNK)
        good = end_chunk(page) && good;
    return good;
}
