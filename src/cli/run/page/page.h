/* SPDX-License-Identifier: MIT */
/* The page of --report: one file that holds everything but the frames themselves,
 * to which it links. It is written as frames come, and appears when it is complete. */
#ifndef TMATCH_CLI_PAGE_H
#define TMATCH_CLI_PAGE_H

#include <stdbool.h>

#include "run/intervals.h"
#include "run/job.h"
#include "run/resume.h"

typedef struct cli_page cli_page;

/* Each is false after a message. */
bool page_open(cli_page **page, const cli_plan *plan);
bool page_add(cli_page *page, const cli_job *job);

/* intervals: of the movies, or NULL. keep: else the page never appears. interrupted: the page says that frames are
 * missing. NULL is allowed. */
bool page_close(cli_page **page, const cli_intervals *intervals, bool keep, bool interrupted);

#endif
