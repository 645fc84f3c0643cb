/* SPDX-License-Identifier: MIT */
#ifndef TMATCH_TESTS_CHECK_FUZZ_H
#define TMATCH_TESTS_CHECK_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/* From here on check_random draws from these bytes. */
void check_fuzz_input(const uint8_t *data, size_t size);

#endif
