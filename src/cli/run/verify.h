/* SPDX-License-Identifier: MIT */
/* --verify: every score once more, by the definition. */
#ifndef TMATCH_CLI_VERIFY_H
#define TMATCH_CLI_VERIFY_H

#include "run/engine.h"

/* Compares the hits of template i, and the scores at all positions, with those of the engine's
 * oracle, into pair->result. Fills pair->map where --map has not. False with the reason in
 * pair->error. color: the colours were matched, not luma. */
bool verify_pair(const cli_engine *engine, const tm_device_image *image, bool color,
                 const cli_templates *templates, size_t i, const tm_hits *hits, cli_pair *pair);

#endif
