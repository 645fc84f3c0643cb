/* SPDX-License-Identifier: MIT */
/* The public API: measuring the devices. */
#include "cpu/cpu.h"
#include "match/calibrate.h"
#include "match/costs.h"
#include "match/matcher.h"

typedef struct text {
    char *text;
    size_t size;
} text;

static tm_status add(tm_matcher *m, const text *t, const tm_device_info *device, const tm_rates *rates)
{
    return tm_costs_add(t->text, t->size, device, rates)
               ? TM_OK
               : tm_matcher_fail(m, TM_ERR_INVALID, "there is no room for what was measured");
}

/* By one thread, as the estimates divide by their number. */
static tm_status calibrate_cpu(tm_matcher *m, const text *t)
{
    const tm_device_settings settings = {.threads = 1, .features = m->settings.cpu_features};
    const tm_backend *backend = tm_cpu_backend();
    tm_device_info info;
    tm_device *device;
    tm_rates rates;

    tm_status status = backend->open(&device, &settings, &m->message);
    if (status != TM_OK)
        return status;
    status = tm_calibrate(backend, device, -1, &rates, &m->message);
    backend->close(device);
    tm_costs_cpu(&info, m->settings.cpu_features);
    return status == TM_OK ? add(m, t, &info, &rates) : status;
}

static tm_status calibrate_cuda(tm_matcher *m, const text *t, int index)
{
    const tm_device_settings settings = {.index = index, .memory = m->settings.device_memory};
    const tm_backend *backend = m->library.plugin;
    tm_device_info info;
    tm_device *device;
    tm_rates rates;

    tm_status status = backend->describe(index, &info, &m->message);
    if (status == TM_OK)
        status = backend->open(&device, &settings, &m->message);
    if (status != TM_OK)
        return status;
    status = tm_calibrate(backend, device, index, &rates, &m->message);
    backend->close(device);
    return status == TM_OK ? add(m, t, &info, &rates) : status;
}

tm_status tm_matcher_calibrate(tm_matcher *matcher, char *memory, size_t size)
{
    const text t = {memory, size};
    int indices[TM_MATCHER_DEVICES], count = 0;
    tm_status status = TM_OK;

    if (!matcher)
        return TM_ERR_INVALID;
    if (!memory || !size)
        return tm_matcher_fail_plain(matcher, TM_ERR_INVALID);
    memory[0] = '\0';
    const tm_device_kind wanted = matcher->settings.device;
    if (wanted != TM_DEVICE_CUDA)
        status = calibrate_cpu(matcher, &t);
    if (wanted == TM_DEVICE_CPU || status != TM_OK)
        return status;
    status = tm_matcher_list_cuda(matcher, indices, &count);
    if (status == TM_ERR_NO_DEVICE && wanted == TM_DEVICE_AUTO) {
        matcher->message.text[0] = '\0';
        return TM_OK;
    }
    for (int i = 0; i < count && status == TM_OK; i++)
        status = calibrate_cuda(matcher, &t, indices[i]);
    return status;
}
