/* SPDX-License-Identifier: MIT */
/* The ids of a log's lines (run/resume.h): hashes of what was matched. */
#ifndef TMATCH_CLI_IDS_H
#define TMATCH_CLI_IDS_H

#include <stddef.h>
#include <stdint.h>

#include "options.h"
#include "run/frames.h"
#include "run/mask.h"
#include "run/template.h"

/* For each template the part of the ids that frames do not change; 0: no id. Templates with the same content
 * are told apart by their order. */
void ids_of_templates(uint64_t *ids, const cli_options *options, const cli_templates *templates,
                      const cli_masks *masks);

/* A hash of these and of the options. The templates' names count, too, as they are printed. */
uint64_t ids_of_settings(const uint64_t *ids, const cli_options *options, const cli_templates *templates);

/* The ids of a frame, which is in the file, with each of count templates; 0 where the file's size and time are
 * not known. */
void ids_of_frame(uint64_t *ids, const uint64_t *templates, size_t count, const cli_frame *frame, const char *file);

/* What ids of results are changed by, exclusive-or, where only some rows of the maps are matched; else 0. */
uint64_t ids_rows_hash(const cli_options *options);

#endif
