/* SPDX-License-Identifier: MIT */
/* Unrelated templates of one size as a family, for certified search: where few basis templates nearly make them
 * up, the products of a window with these rule most of them out at once. */
#ifndef TMATCH_LCC_TEMPLATE_FAMILY_H
#define TMATCH_LCC_TEMPLATE_FAMILY_H

#include "lcc/family.h"
#include "lcc/lcc.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Bases of different sizes, the smallest first: few templates are quicker looked at, more say more. */
enum { TM_TEMPLATE_BASES = 3 };
static inline int tm_template_basis_size(int index)
{
    return 8 << index;
}

typedef struct tm_template_family {
    uint8_t *samples; /* all templates' */
    int64_t width, height;
    size_t templates;
    tm_family bases[TM_TEMPLATE_BASES];
    int made; /* so many of them have been looked for */
} tm_template_family;

/* Begins the family of the jobs' templates, of one size, 8-bit gray without masks and not flat. Errors: MEMORY, and it is
 * empty. */
tm_status tm_template_family_begin(tm_template_family *family, tm_job *const *jobs, size_t count);
void tm_template_family_free(tm_template_family *family);

/* Whether it is the family of the jobs' templates, in this order. */
bool tm_template_family_is_of(const tm_template_family *family, tm_job *const *jobs, size_t count);

/* Makes the bases up to this one, if they are not there. *basis: NULL where the templates have too little in common for it.
 * Errors: MEMORY. */
tm_status tm_template_family_basis(tm_template_family *family, int index, const tm_family **basis);

/* What it takes to make a basis that is not there, in nanoseconds, about. */
double tm_template_family_make_ns(const tm_template_family *family, int index);

#ifdef __cplusplus
}
#endif

#endif
