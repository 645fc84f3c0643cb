/* SPDX-License-Identifier: MIT */
/* What the log of a shard has besides results. Each of its lines says, before its id, where it belongs:
 *
 *     ,"shard":{"run":"0123456789abcdef","order":[12,1]}
 *
 * the frame's place in the list of all shards and the template's among the templates, from 1. A name that is
 * no UTF-8 is there once more so that it can be read back, and so is the time of a movie's frame. Two other
 * lines say what is run, and that it has come to its end:
 *
 *     {"begun":"3/8","run":"...","frames":20000,"own":2471,"list":"...","settings":"...","templates":["t.png"],
 *      "broken":[1],"folder":"/data","command":["-t","t.png",...],"sum":"..."}
 *     {"finished":"3/8","run":"...","status":0,"sum":"..."}
 *
 * Only lines of the last run that was begun count. */
#ifndef TMATCH_CLI_SHARD_LOG_H
#define TMATCH_CLI_SHARD_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "options.h"
#include "run/report.h"
#include "run/shard.h"
#include "run/template.h"

#define SHARD_LOG_START "{\"begun\":\""

typedef struct shard_place {
    uint64_t run;
    size_t frame, tmpl; /* from 1 */
} shard_place;

/* What a result is followed by. */
void shard_log_place(FILE *out, const shard_place *place, const cli_result *result);

/* False where the line has none. */
bool shard_log_find_place(const char *text, shard_place *place);

/* A line that begins a run, and one that ends it with an exit status, each with its newline. False if memory ran out. */
bool shard_log_begin(FILE *out, const cli_shard *shard, const cli_options *options, const cli_templates *templates);
bool shard_log_finish(FILE *out, const cli_shard *shard, int status);

typedef struct shard_record {
    cli_shard shard;
    bool finished;
    bool had_other; /* a run before it was of another part */
    int status;
    bool has_rows; /* --rows: this run matched only these rows of all maps, of all frames */
    int64_t first_row, end_row;
    char *folder; /* the working folder */
    char **templates, **command; /* NULL after the last */
    size_t template_count;
    bool *broken; /* for each template, whether it cannot be matched with any frame */
} shard_record;

/* Takes a line of a log, which has length bytes and a zero after them, if it is one of the two and sound: a
 * beginning replaces what the record was. False if memory ran out. */
bool shard_record_take(shard_record *record, const char *text, size_t length);
void shard_record_free(shard_record *record);

#endif
