/* SPDX-License-Identifier: MIT */
#include "cpu/together.h"

#include <stdlib.h>

#include "hash.h"

/* The best matches of larger templates are found more quickly one by one: blocks say much of these. */
#define MOST_PIXELS_OF_BEST 1600

/* How much of the time the least basis may take to be made. */
#define MAKE_SHARE 0.1

static uint64_t hash_of(const tm_together *call)
{
    uint64_t hash = 0;
    for (int i = 0; i < call->count; i++)
        hash = hash_bytes(hash, &call->jobs[i]->tmpl->hash, sizeof call->jobs[i]->tmpl->hash);
    return hash;
}

/* Whether the family's first basis is there, or takes little to be made of what the templates took without it. */
static tm_status have_family(tm_kept_family *kept, const tm_together *call, double ns, bool *has)
{
    const uint64_t hash = hash_of(call);
    tm_status status = TM_OK;

    if (!tm_template_family_is_of(&kept->family, call->jobs, (size_t)call->count)) {
        tm_template_family_free(&kept->family);
        status = tm_template_family_begin(&kept->family, call->jobs, (size_t)call->count);
    }
    if (kept->seen != hash) {
        kept->seen = hash;
        kept->missed_ns = 0;
    }
    kept->missed_ns += ns;
    *has = status == TM_OK && tm_template_family_make_ns(&kept->family, 0) <= MAKE_SHARE * kept->missed_ns;
    return status;
}

/* Whether a family can be for them, and the least basis takes so little that more can be told by a trial. */
static bool may_pay(const tm_together *call, double ns)
{
    const tm_template *t = call->jobs[0]->tmpl;
    return t->n <= (call->jobs[0]->peaks ? TM_FAMILY_PIXELS : MOST_PIXELS_OF_BEST) && t->height <= TM_FAMILY_ROWS &&
           tm_together_looks_ns(call, tm_template_basis_size(0)) < tm_together_share(call) * ns;
}

/* Plans each by itself; what all of them take that way, in nanoseconds of threads. */
static double plan(tm_certified_plan *plans, double *other_ns, const tm_cpu_conditions *c, const tm_cpu_together *call)
{
    double ns = 0;
    for (size_t i = 0; i < call->count; i++) {
        tm_cpu_certified_plan(&plans[i], c, call->jobs[i], NULL);
        ns += other_ns[i] = 1e6 * c->threads * call->other_ms[i];
    }
    return ns;
}

static tm_status match(tm_cpu *cpu, tm_kept_family *kept, tm_pauses *pauses, tm_together *call, double ns)
{
    const uint64_t hash = hash_of(call);
    tm_status status = TM_OK;
    bool has = false;

    if (!may_pay(call, ns) || tm_pause_skips(pauses, hash))
        return TM_OK;
    status = have_family(kept, call, ns, &has);
    if (status != TM_OK || !has)
        return status;
    call->family = &kept->family;
    status = tm_cpu_match_together(cpu, call);
    tm_pause_note(pauses, hash, call->basis > 0);
    return status;
}

tm_status tm_cpu_try_together(tm_cpu *cpu, tm_kept_family *kept, tm_pauses *pauses, const tm_cpu_conditions *c,
                              tm_cpu_together *call)
{
    tm_certified_plan *plans = calloc(call->count, sizeof *plans);
    double *other_ns = calloc(call->count, sizeof *other_ns);
    tm_together together = {.jobs = call->jobs,
                            .plans = plans,
                            .other_ns = other_ns,
                            .count = (int)call->count,
                            .known = call->known,
                            .product_ns = tm_cpu_product_ns(c, call->jobs[0])};
    tm_status status = plans && other_ns ? TM_OK : TM_ERR_MEMORY;

    for (size_t i = 0; i < call->count; i++)
        call->jobs[i]->declined = true;
    if (status == TM_OK)
        status = match(cpu, kept, pauses, &together, plan(plans, other_ns, c, call));
    call->basis = together.basis;
    free(plans);
    free(other_ns);
    return status;
}
