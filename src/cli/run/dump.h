/* SPDX-License-Identifier: MIT */
/* --dump-template: what is matched, written to look at. */
#ifndef TMATCH_CLI_DUMP_H
#define TMATCH_CLI_DUMP_H

#include "run/engine.h"
#include "run/protected.h"

/* Writes the run's only template, prepared by the engine: the normalized one, or a picture for each
 * of its poses, "t.png" as "t.30deg.1.25x.png", transparent where pixels do not count. Does nothing
 * where that is not asked for or the template is not usable. False after a message. */
bool dump_template(const cli_engine *engine, const cli_templates *templates,
                   cli_protected *protected);

#endif
