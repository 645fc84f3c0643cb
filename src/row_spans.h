/* SPDX-License-Identifier: MIT */
/* Whether the rows of several parts follow each other. */
#ifndef TMATCH_ROW_SPANS_H
#define TMATCH_ROW_SPANS_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* The rows of a part: from first up to, not including, end. */
typedef struct row_span {
    int64_t first, end;
    size_t part; /* its index for the caller */
} row_span;

static inline int row_span_compare(const void *a, const void *b)
{
    const row_span *p = a, *q = b;
    if (p->first != q->first)
        return p->first < q->first ? -1 : 1;
    return p->part < q->part ? -1 : p->part > q->part;
}

/* Rising by the first row. */
static inline void row_spans_sort(row_span *spans, size_t count)
{
    if (count > 1)
        qsort(spans, count, sizeof *spans, row_span_compare);
}

/* Takes the next of sorted spans: *reach, at first of no rows, becomes that which ends last so far. So the next one
 * begins at its end, or rows before it are missing, or there twice. */
static inline void row_spans_pass(row_span *reach, const row_span *next)
{
    if (next->end > reach->end)
        *reach = *next;
}

#endif
