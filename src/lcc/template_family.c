/* SPDX-License-Identifier: MIT */
#include "lcc/template_family.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Bases that show no more of the templates' variance than this times what they show of as many templates of noise say
 * too little. */
#define LEAST_GAIN 2

/* For each pixel of a template and template of the basis. */
#define MAKE_NS 2.5

bool tm_template_family_is_of(const tm_template_family *f, tm_job *const *jobs, size_t count)
{
    const size_t size = (size_t)(f->width * f->height);
    bool same = f->templates == count && jobs[0]->tmpl->width == f->width && jobs[0]->tmpl->height == f->height;

    for (size_t i = 0; i < count && same; i++)
        same = memcmp(f->samples + i * size, jobs[i]->tmpl->samples, size) == 0;
    return same;
}

tm_status tm_template_family_begin(tm_template_family *f, tm_job *const *jobs, size_t count)
{
    const tm_template *first = jobs[0]->tmpl;
    const size_t size = (size_t)first->n;

    *f = (tm_template_family){.samples = malloc(count * size)};
    if (!f->samples)
        return TM_ERR_MEMORY;
    f->width = first->width;
    f->height = first->height;
    f->templates = count;
    for (size_t i = 0; i < count; i++)
        memcpy(f->samples + i * size, jobs[i]->tmpl->samples, size);
    return TM_OK;
}

/* Pictures of which all pixels count; mask: room for as many pixels as one has. */
static void list_pictures(const tm_template_family *f, tm_posed *posed, uint8_t *mask)
{
    const size_t size = (size_t)(f->width * f->height);

    memset(mask, 1, size);
    for (size_t i = 0; i < f->templates; i++)
        posed[i] = (tm_posed){.width = f->width,
                              .height = f->height,
                              .count = (int64_t)size,
                              .samples = f->samples + i * size,
                              .mask = mask};
}

static bool is_noise(const tm_template_family *f, const tm_family *basis)
{
    const double of_noise = (double)basis->basis / (double)f->templates;
    return 1 - basis->rest_rms * basis->rest_rms < LEAST_GAIN * of_noise;
}

static tm_status make_basis(tm_template_family *f, tm_family *basis, int size)
{
    tm_posed *posed = calloc(f->templates, sizeof *posed);
    uint8_t *mask = malloc((size_t)(f->width * f->height));
    tm_status status = posed && mask ? TM_OK : TM_ERR_MEMORY;

    if (status == TM_OK) {
        list_pictures(f, posed, mask);
        status = tm_family_begin(basis, posed, f->templates);
    }
    if (status == TM_OK)
        status = tm_family_finish(basis, posed, size, INFINITY);
    if (status == TM_OK && basis->count && is_noise(f, basis))
        tm_family_free(basis);
    free(mask);
    free(posed);
    return status;
}

tm_status tm_template_family_basis(tm_template_family *f, int index, const tm_family **basis)
{
    *basis = NULL;
    for (; f->made <= index; f->made++) {
        const tm_status status = make_basis(f, &f->bases[f->made], tm_template_basis_size(f->made));
        if (status != TM_OK)
            return status;
    }
    if (f->bases[index].count)
        *basis = &f->bases[index];
    return TM_OK;
}

double tm_template_family_make_ns(const tm_template_family *f, int index)
{
    const double pixels = (double)f->templates * (double)f->width * (double)f->height;
    return index < f->made ? 0 : MAKE_NS * pixels * tm_template_basis_size(index);
}

void tm_template_family_free(tm_template_family *f)
{
    for (int i = 0; i < f->made; i++)
        tm_family_free(&f->bases[i]);
    free(f->samples);
    *f = (tm_template_family){0};
}
