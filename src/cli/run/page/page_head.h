/* SPDX-License-Identifier: MIT */
/* What the page says before its frames: the run and the templates, as JSON in elements. */
#ifndef TMATCH_CLI_PAGE_HEAD_H
#define TMATCH_CLI_PAGE_HEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "run/job.h"

/* False if memory ran out. */
bool page_put_head(FILE *out, const cli_plan *plan);

void page_put_base64(FILE *out, const char *data, size_t size);

/* Writes JSON inside an element; its strings may contain "</script>". */
void page_put_json(FILE *out, const char *json, size_t size);

#endif
