/* SPDX-License-Identifier: MIT */
/* The public API: making and freeing matchers, and what they say of their last match. */
#include "match/matcher.h"

#include <math.h>
#include <omp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpu/cpu.h"
#include "match/costs.h"
#include "match/settings.h"
#include "within.h"

__attribute__((format(printf, 3, 4))) tm_status
tm_matcher_fail(tm_matcher *matcher, tm_status status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(matcher->message.text, sizeof matcher->message.text, format, arguments);
    va_end(arguments);
    return status;
}

tm_status tm_matcher_fail_plain(tm_matcher *matcher, tm_status status)
{
    return tm_matcher_fail(matcher, status, "%s", tm_strerror(status));
}

int tm_matcher_threads(const tm_matcher *m)
{
    return m->settings.threads ? m->settings.threads : omp_get_num_procs();
}

tm_status tm_matcher_open_cpu(tm_matcher *m)
{
    tm_rates rates;
    tm_device_info cpu;
    if (m->costs && !m->cpu) {
        tm_costs_cpu(&cpu, m->settings.cpu_features);
        m->cpu_measured = tm_costs_find(m->costs, &cpu, &rates);
    }
    const tm_device_settings settings = {.threads = tm_matcher_threads(m),
                                         .features = m->settings.cpu_features,
                                         .memory = (m->settings.host_memory + 3) / 4,
                                         .algorithm = m->settings.algorithm,
                                         .rates = m->cpu_measured ? &rates : NULL};
    return m->cpu ? TM_OK : tm_cpu_backend()->open(&m->cpu, &settings, &m->message);
}

typedef struct counting {
    const tm_backend *plugin;
    tm_message message;
    int count;
    bool describes; /* the first TM_MATCHER_DEVICES, too; without a name those that cannot be */
    tm_device_info devices[TM_MATCHER_DEVICES];
} counting;

static void count_devices(void *data)
{
    counting *c = data;
    tm_message ignored;

    c->count = c->plugin->count(&c->message);
    for (int i = 0; c->describes && i < c->count && i < TM_MATCHER_DEVICES; i++) {
        if (c->plugin->describe(i, &c->devices[i], &ignored) != TM_OK)
            c->devices[i] = (tm_device_info){.kind = TM_DEVICE_CUDA, .index = i};
    }
}

/* The first call into the driver, which starts it, and may hang as any other. */
static tm_status count_cuda(tm_matcher *m, int *count)
{
    counting *c = calloc(1, sizeof *c);
    if (!c)
        return tm_matcher_fail_plain(m, TM_ERR_MEMORY);
    c->plugin = m->library.plugin;
    c->describes = m->costs != NULL;
    if (!within(m->settings.device_timeout * 1e3, count_devices, c)) {
        m->given_up++;
        return tm_matcher_fail(m, TM_ERR_DEVICE, "CUDA did not answer within %g s", m->settings.device_timeout);
    }
    *count = c->count;
    m->message = c->message;
    m->cuda_measured = false;
    for (int i = 0; i < TM_MATCHER_DEVICES; i++) {
        m->cuda_rates[i] = (tm_rates)TM_USUAL_RATES;
        if (i < c->count && tm_costs_find(m->costs, &c->devices[i], &m->cuda_rates[i]))
            m->cuda_measured = true;
    }
    free(c);
    return *count > 0 ? TM_OK : TM_ERR_NO_DEVICE;
}

tm_status tm_matcher_list_cuda(tm_matcher *m, int *indices, int *listed)
{
    const uint64_t mask = m->settings.device_mask;

    *listed = 0;
    tm_status status = tm_cuda_load(&m->library, &m->message);
    if (status != TM_OK)
        return status;
    int count = 0;
    status = count_cuda(m, &count);
    if (status != TM_OK)
        return status;
    for (int i = 0; i < TM_MATCHER_DEVICES; i++) {
        if (mask == TM_ALL_DEVICES ? i < count : mask >> i & 1)
            indices[(*listed)++] = i;
    }
    if (!*listed)
        indices[(*listed)++] = m->settings.device_index;
    if (indices[*listed - 1] >= count)
        return tm_matcher_fail(m, TM_ERR_NO_DEVICE,
                               "there is no device cuda:%d, only %d CUDA device%s",
                               indices[*listed - 1], count, count == 1 ? "" : "s");
    return TM_OK;
}

tm_status tm_matcher_open_cuda(tm_matcher *m)
{
    int indices[TM_MATCHER_DEVICES], listed;
    const tm_status status = tm_matcher_list_cuda(m, indices, &listed);
    if (status != TM_OK)
        return status;
    const tm_pool_settings pool = {.indices = indices,
                                   .count = listed,
                                   .memory = m->settings.device_memory,
                                   .least_ms = TM_POOL_LEAST_MS,
                                   .algorithm = m->settings.algorithm,
                                   .rates = m->cuda_rates,
                                   .timeout_ms = m->settings.device_timeout * 1e3,
                                   .given_up = &m->given_up};
    return tm_pool_create(&m->pool, m->library.plugin, &pool, &m->message);
}

tm_status tm_matcher_create(tm_matcher **matcher, const tm_settings *settings)
{
    if (!matcher)
        return TM_ERR_INVALID;
    tm_matcher *m = *matcher = calloc(1, sizeof **matcher);
    if (!m)
        return TM_ERR_MEMORY;
    m->algorithm = "";
    if (!settings || settings->size < sizeof settings->size)
        return tm_matcher_fail(m, TM_ERR_INVALID, "the settings lack their size");

    /* A caller built against an older header has a shorter struct. */
    tm_settings_default(&m->settings, sizeof m->settings);
    size_t known = settings->size < sizeof m->settings ? settings->size : sizeof m->settings;
    memcpy(&m->settings, settings, known);
    const char *fault = tm_settings_fault(&m->settings);
    if (fault)
        return tm_matcher_fail(m, TM_ERR_INVALID, "%s", fault);
    if (m->settings.costs && !(m->costs = strdup(m->settings.costs)))
        return tm_matcher_fail_plain(m, TM_ERR_MEMORY);
    m->settings.costs = m->costs;
    if (m->settings.algorithm == TM_ALGORITHM_CUFFT)
        m->settings.device = TM_DEVICE_CUDA;

    return m->settings.device == TM_DEVICE_CUDA ? tm_matcher_open_cuda(m) : tm_matcher_open_cpu(m);
}

void tm_matcher_destroy(tm_matcher **matcher)
{
    if (!matcher || !*matcher)
        return;
    tm_matcher *m = *matcher;
    if (m->cpu)
        tm_cpu_backend()->close(m->cpu);
    tm_pool_destroy(&m->pool);
    tm_cuda_unload(&m->library);
    free(m->costs);
    tm_coarse_free(&m->coarse);
    free(m->jobs);
    free(m);
    *matcher = NULL;
}

const char *tm_matcher_message(const tm_matcher *matcher)
{
    return matcher ? matcher->message.text : tm_strerror(TM_ERR_MEMORY);
}

tm_status tm_host_alloc(tm_matcher *matcher, size_t size, tm_host_memory *memory)
{
    tm_host_memory made = {.size = size};

    if (!matcher)
        return TM_ERR_INVALID;
    if (!memory || !size)
        return tm_matcher_fail_plain(matcher, TM_ERR_INVALID);
    if (matcher->pool &&
        tm_pool_host_alloc(matcher->pool, size, &made.data, &matcher->message) != TM_OK)
        return TM_ERR_MEMORY;
    made.pinned = made.data != NULL;
    if (!made.data && !(made.data = malloc(size)))
        return tm_matcher_fail_plain(matcher, TM_ERR_MEMORY);
    *memory = made;
    return TM_OK;
}

void tm_host_free(tm_matcher *matcher, tm_host_memory *memory)
{
    if (!matcher || !memory)
        return;
    if (memory->pinned)
        tm_pool_host_free(matcher->pool, memory->data);
    else
        free(memory->data);
    *memory = (tm_host_memory){0};
}

tm_times tm_matcher_times(const tm_matcher *matcher)
{
    return matcher ? matcher->times : (tm_times){0};
}

const char *tm_matcher_warning(const tm_matcher *matcher)
{
    return matcher ? matcher->warning.text : "";
}

int tm_matcher_hung(const tm_matcher *matcher)
{
    return matcher ? matcher->given_up : 0;
}

size_t tm_matcher_reports(const tm_matcher *matcher, tm_device_report *reports, size_t capacity)
{
    return matcher && matcher->on_pool ? tm_pool_reports(matcher->pool, reports, capacity) : 0;
}

const char *tm_matcher_device(const tm_matcher *matcher)
{
    return matcher ? matcher->device : "";
}

const char *tm_matcher_algorithm(const tm_matcher *matcher)
{
    return matcher ? matcher->algorithm : "";
}

const char *tm_matcher_plan(const tm_matcher *matcher)
{
    return matcher ? matcher->plan : "";
}

const char *tm_matcher_strategy(const tm_matcher *matcher)
{
    return !matcher || !matcher->algorithm[0] ? ""
           : matcher->pyramid                 ? "pyramid"
           : matcher->certified               ? "certified"
                                              : "exhaustive";
}

double tm_matcher_scored(const tm_matcher *matcher)
{
    if (!matcher || !matcher->windows)
        return 0;
    return fmin(1, (double)matcher->scored / (double)matcher->windows);
}
