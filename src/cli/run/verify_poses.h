/* SPDX-License-Identifier: MIT */
/* --verify with --angle or --scale: the score of every match once more, by the definition. */
#ifndef TMATCH_CLI_VERIFY_POSES_H
#define TMATCH_CLI_VERIFY_POSES_H

#include "run/engine.h"

/* Matches each hit's posed template, as --dump-template writes it, with its window alone by the
 * engine's oracle, and compares the scores, into pair->result; where there is no hit, those of the
 * best place. False with the reason in pair->error. */
bool verify_poses(const cli_engine *engine, const tm_image *image, const tm_posed_template *tmpl,
                  const tm_posed_hits *hits, cli_pair *pair);

#endif
