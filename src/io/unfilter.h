/* SPDX-License-Identifier: MIT */
/* PNG's filters taken back. libpng does the same; as many systems build it, it does Paeth's byte by byte. */
#ifndef TMATCH_IO_UNFILTER_H
#define TMATCH_IO_UNFILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes behind a row that may be read, whatever they are. */
enum { UNFILTER_SLACK = 8 };

/* Turns count rows, each a filter's number and size bytes, into samples, in place. pixel: bytes of a
 * pixel, of which size is a multiple: 1, 2, 3, 4, 6 or 8. above: the samples of the row above, or zeros
 * for the first; it and each row have slack behind them. False where a filter has no such number. */
bool io_unfilter(uint8_t *rows, size_t count, size_t size, int pixel, const uint8_t *above);

#endif
