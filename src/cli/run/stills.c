/* SPDX-License-Identifier: MIT */
#include "run/stills.h"

#include <stdlib.h>
#include <string.h>

#include "message.h"
#include "run/mirror.h"

typedef struct held_still {
    const cli_appearance *of;
    char *path; /* of the file that it becomes */
    char *jpeg;
    size_t size;
} held_still;

struct cli_stills {
    const cli_plan *plan;
    cli_intervals *intervals;
    char *folder; /* that they are written to */
    held_still *held;
    size_t count, room;
    bool failed;
};

bool stills_wanted(const cli_plan *plan, const cli_job *job)
{
    const cli_options *o = plan->options;
    return o->report && o->max_memory == 0 && intervals_wanted(o) && job->frame.part && job->frame.part->location.timed;
}

static bool fail(cli_stills *s, const char *path, const char *reason)
{
    message(path, "%s", reason);
    s->failed = true;
    return false;
}

static void free_held(held_still *held)
{
    free(held->path);
    free(held->jpeg);
    *held = (held_still){0};
}

static bool write_still(cli_stills *s, const held_still *held)
{
    io_output output;
    io_error error;

    if (!mirror_prepare(s->folder, held->path, s->plan->protected, &error) ||
        !io_output_open(&output, held->path, &error))
        return fail(s, held->path, error.reason);
    fwrite(held->jpeg, 1, held->size, output.file);
    return io_output_commit(&output, &error) || fail(s, held->path, error.reason);
}

/* For intervals: the appearance is over. */
static void finish(void *data, cli_appearance *a)
{
    cli_stills *s = data;
    for (size_t i = 0; i < s->count; i++) {
        held_still *held = &s->held[i];
        if (held->of != a)
            continue;
        if (!s->failed && write_still(s, held)) {
            a->still = held->path;
            held->path = NULL;
        }
        free_held(held);
        *held = s->held[--s->count];
        return;
    }
}

cli_stills *stills_open(const cli_plan *plan, cli_intervals *intervals)
{
    const char *report = plan->options->report;
    cli_stills *s = calloc(1, sizeof *s);

    if (!s || asprintf(&s->folder, "%.*s.stills", (int)(strlen(report) - strlen(".html")), report) < 0) {
        free(s);
        return NULL;
    }
    s->plan = plan;
    s->intervals = intervals;
    intervals_on_end(intervals, finish, s);
    return s;
}

static held_still *find(cli_stills *s, const cli_appearance *a)
{
    for (size_t i = 0; i < s->count; i++)
        if (s->held[i].of == a)
            return &s->held[i];
    if (!frames_grow((void **)&s->held, &s->room, s->count, sizeof *s->held))
        return NULL;
    s->held[s->count] = (held_still){.of = a};
    return &s->held[s->count++];
}

/* Few frames get here: most are no better than one before them. */
static bool hold(cli_stills *s, const cli_appearance *a, const cli_job *job)
{
    held_still *held = find(s, a);
    io_error error;
    if (!held)
        return fail(s, NULL, tm_strerror(TM_ERR_MEMORY));
    free_held(held);
    *held = (held_still){.of = a, .path = mirror_path(s->folder, &job->frame, ".jpg")};
    FILE *memory = held->path ? open_memstream(&held->jpeg, &held->size) : NULL;
    if (!memory)
        return fail(s, NULL, tm_strerror(TM_ERR_MEMORY));
    const bool encoded = io_encode(&job->still, "still.jpg", memory, &error);
    if (fclose(memory) != 0 && encoded)
        return fail(s, NULL, tm_strerror(TM_ERR_MEMORY));
    return encoded || fail(s, operand_name(&job->operand), error.reason);
}

bool stills_take(cli_stills *s, const cli_job *job)
{
    const cli_appearance *a;

    if (!job->still.samples)
        return true;
    for (size_t i = 0; (a = intervals_open_one(s->intervals, i)); i++)
        if (a->best.index == job->frame.part->number && !hold(s, a, job))
            return false;
    return true;
}

bool stills_are_good(const cli_stills *s)
{
    return !s || !s->failed;
}

void stills_close(cli_stills **stills)
{
    cli_stills *s = *stills;
    if (!s)
        return;
    for (size_t i = 0; i < s->count; i++)
        free_held(&s->held[i]);
    free(s->held);
    free(s->folder);
    free(s);
    *stills = NULL;
}
