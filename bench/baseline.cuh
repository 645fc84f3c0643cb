/* SPDX-License-Identifier: MIT */
/* What the GPU baselines share: errors, memory, and the same timing as tmatch's
 * own kernels get from the plugin's replay. */
#ifndef TMATCH_BENCH_BASELINE_CUH
#define TMATCH_BENCH_BASELINE_CUH

#include <cuda_runtime.h>

#include <chrono>
#include <cstdio>
#include <vector>

extern "C" {
#include "baseline.h"
__attribute__((visibility("default"))) const baseline_module *baseline_module_get(void);
}

#define TRY(call)                       \
    do {                                \
        cudaError_t try_error = (call); \
        if (try_error != cudaSuccess)   \
            return try_error;           \
    } while (0)

/* Device memory for the time of a run. */
template <typename T>
struct device_array {
    T *data = nullptr;
    device_array() = default;
    device_array(const device_array &) = delete;
    ~device_array() { cudaFree(data); }
    cudaError_t allocate(size_t count) { return cudaMalloc((void **)&data, count * sizeof(T)); }
};

static inline double wall_ms()
{
    using namespace std::chrono;
    return duration<double, std::milli>(steady_clock::now().time_since_epoch()).count();
}

/* Where the frame lies in its zero-extended form, and the map's size. */
struct shape {
    int64_t pad_x, pad_y, width, height, map_width, map_height;
};

static inline shape shape_of(const baseline_request *r)
{
    shape s;
    s.pad_x = r->full ? r->template_width - 1 : 0;
    s.pad_y = r->full ? r->template_height - 1 : 0;
    s.width = r->frame_width + 2 * s.pad_x;
    s.height = r->frame_height + 2 * s.pad_y;
    s.map_width = s.width - r->template_width + 1;
    s.map_height = s.height - r->template_height + 1;
    return s;
}

/* The frame as it lies in memory, extended with zeros to width x height. */
template <typename T>
static std::vector<T> extend(const baseline_request *r, const shape &s, int64_t width,
                             int64_t height)
{
    std::vector<T> out((size_t)(width * height), T(0));
    for (int64_t y = 0; y < r->frame_height; y++)
        for (int64_t x = 0; x < r->frame_width; x++)
            out[(size_t)((y + s.pad_y) * width + s.pad_x + x)] = (T)r->frame[y * r->frame_width + x];
    return out;
}

/* The template with mean 0 and norm 1 for LCC, as it is for correlation. */
static inline std::vector<float> normalized(const baseline_request *r)
{
    const size_t n = (size_t)(r->template_width * r->template_height);
    std::vector<float> out(n);
    double mean = 0, norm = 0;
    for (size_t i = 0; r->lcc && i < n; i++)
        mean += r->tmpl[i] / (double)n;
    for (size_t i = 0; i < n; i++)
        norm += (r->tmpl[i] - mean) * (r->tmpl[i] - mean);
    norm = r->lcc && norm > 0 ? sqrt(norm) : 1;
    for (size_t i = 0; i < n; i++)
        out[i] = (float)((r->tmpl[i] - mean) / norm);
    return out;
}

template <typename Launch>
static cudaError_t time_batch(Launch launch, cudaStream_t stream, cudaEvent_t *events,
                              int launches, double *ms)
{
    float elapsed;
    TRY(cudaEventRecord(events[0], stream));
    for (int i = 0; i < launches; i++)
        TRY(launch());
    TRY(cudaEventRecord(events[1], stream));
    TRY(cudaEventSynchronize(events[1]));
    TRY(cudaEventElapsedTime(&elapsed, events[0], events[1]));
    *ms = (double)elapsed / launches;
    return cudaSuccess;
}

/* Batches of about 4 ms, medians to be taken by the caller. */
template <typename Launch>
static cudaError_t time_launches(const baseline_request *r, baseline_reply *reply,
                                 cudaStream_t stream, Launch launch)
{
    cudaEvent_t events[2];
    double one = 0;
    TRY(cudaEventCreate(&events[0]));
    TRY(cudaEventCreate(&events[1]));
    cudaError_t error = time_batch(launch, stream, events, 3, &one);
    const int launches = one > 4 ? 1 : one < 0.002 ? 2000 : (int)(4 / one);
    if (error == cudaSuccess)
        error = time_batch(launch, stream, events, launches, &one);
    const double start = wall_ms();
    for (int i = 0; error == cudaSuccess && i < r->samples && i < BASELINE_SAMPLES &&
                    (i < 3 || wall_ms() - start < r->budget_ms); i++) {
        error = time_batch(launch, stream, events, launches, &reply->ms[i]);
        reply->taken = i + 1;
    }
    cudaEventDestroy(events[0]);
    cudaEventDestroy(events[1]);
    return error;
}

/* Runs body on the request's device and turns its error into the reply's note. */
template <typename Body>
static bool guarded(const baseline_request *r, baseline_reply *reply, Body body)
{
    cudaError_t error = cudaSetDevice(r->device);
    if (error == cudaSuccess)
        error = body();
    if (error == cudaSuccess)
        return true;
    cudaGetLastError();
    reply->taken = 0;
    if (!reply->note[0])
        snprintf(reply->note, sizeof reply->note, "%s", cudaGetErrorString(error));
    return false;
}

static inline bool unsupported(baseline_reply *reply, const char *why)
{
    reply->supported = false;
    snprintf(reply->note, sizeof reply->note, "%s", why);
    return true;
}

#endif
