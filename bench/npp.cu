/* SPDX-License-Identifier: MIT */
/* NVIDIA's NPP: CrossCorr{Valid,Full}_NormLevel and _NormLevelAdvanced. */
#include <nppcore.h>
#include <nppi_statistics_functions.h>

#include "baseline.cuh"

/* NPP 12.2 and later have sizes as size_t, those before as int. */
template <typename Size>
static NppStatus buffer_size(NppStatus (*get)(NppiSize, Size *, NppStreamContext), NppiSize roi,
                             NppStreamContext context, size_t *size)
{
    Size value = 0;
    const NppStatus status = get(roi, &value, context);
    *size = (size_t)value;
    return status;
}

template <typename Size>
static NppStatus advanced_size(NppStatus (*get)(NppiSize, NppiSize, int, int, Size *), NppiSize frame,
                               NppiSize tmpl, size_t *size)
{
    Size value = 0;
    const NppStatus status = get(frame, tmpl, (int)sizeof(Npp32f), 1, &value);
    *size = (size_t)value;
    return status;
}

struct npp_call {
    bool full, advanced;
    Npp8u *frame, *tmpl, *scratch, *advanced_scratch;
    size_t frame_step, tmpl_step, map_step;
    NppiSize frame_size, tmpl_size;
    Npp32f *map;
    NppStreamContext context;
};

static NppStatus call(const npp_call *c)
{
    if (c->advanced) {
        auto function = c->full ? nppiCrossCorrFull_NormLevelAdvanced_8u32f_C1R_Ctx
                                : nppiCrossCorrValid_NormLevelAdvanced_8u32f_C1R_Ctx;
        return function(c->frame, (int)c->frame_step, c->frame_size, c->tmpl, (int)c->tmpl_step,
                        c->tmpl_size, c->map, (int)c->map_step, c->scratch, c->advanced_scratch,
                        c->context);
    }
    auto function = c->full ? nppiCrossCorrFull_NormLevel_8u32f_C1R_Ctx
                            : nppiCrossCorrValid_NormLevel_8u32f_C1R_Ctx;
    return function(c->frame, (int)c->frame_step, c->frame_size, c->tmpl, (int)c->tmpl_step,
                    c->tmpl_size, c->map, (int)c->map_step, c->scratch, c->context);
}

static cudaError_t npp(NppStatus status, const char *what, baseline_reply *reply)
{
    if (status == NPP_SUCCESS)
        return cudaSuccess;
    snprintf(reply->note, sizeof reply->note, "NPP status %d from %s", (int)status, what);
    return cudaErrorUnknown;
}

static cudaError_t fill_context(NppStreamContext *context, int device, cudaStream_t stream)
{
    cudaDeviceProp properties;
    TRY(cudaGetDeviceProperties(&properties, device));
    *context = {};
    context->hStream = stream;
    context->nCudaDeviceId = device;
    context->nMultiProcessorCount = properties.multiProcessorCount;
    context->nMaxThreadsPerMultiProcessor = properties.maxThreadsPerMultiProcessor;
    context->nMaxThreadsPerBlock = properties.maxThreadsPerBlock;
    context->nSharedMemPerBlock = properties.sharedMemPerBlock;
    context->nCudaDevAttrComputeCapabilityMajor = properties.major;
    context->nCudaDevAttrComputeCapabilityMinor = properties.minor;
    return cudaStreamGetFlags(stream, &context->nStreamFlags);
}

/* A stream and pitched memory, freed at the end of the run. */
struct memory {
    cudaStream_t stream = nullptr;
    void *blocks[3] = {};
    device_array<Npp8u> scratch, advanced;
    ~memory()
    {
        for (void *block : blocks)
            cudaFree(block);
        if (stream)
            cudaStreamDestroy(stream);
    }
};

static cudaError_t prepare(const baseline_request *r, const shape &s, npp_call &c, memory &m,
                           baseline_reply *reply)
{
    /* Which size the scratch is for is not said: the larger of the two is enough. */
    const NppiSize larger = {(int)(r->full ? s.map_width : r->frame_width),
                             (int)(r->full ? s.map_height : r->frame_height)};
    const size_t width = (size_t)r->frame_width, tmpl_width = (size_t)r->template_width;
    size_t scratch = 0, advanced = 0;

    c.frame_size = {(int)r->frame_width, (int)r->frame_height};
    c.tmpl_size = {(int)r->template_width, (int)r->template_height};
    TRY(cudaStreamCreate(&m.stream));
    TRY(fill_context(&c.context, r->device, m.stream));
    TRY(cudaMallocPitch(&m.blocks[0], &c.frame_step, width, (size_t)r->frame_height));
    TRY(cudaMallocPitch(&m.blocks[1], &c.tmpl_step, tmpl_width, (size_t)r->template_height));
    TRY(cudaMallocPitch(&m.blocks[2], &c.map_step, (size_t)s.map_width * sizeof(Npp32f), (size_t)s.map_height));
    c.frame = (Npp8u *)m.blocks[0];
    c.tmpl = (Npp8u *)m.blocks[1];
    c.map = (Npp32f *)m.blocks[2];

    TRY(npp(buffer_size(r->full ? nppiFullNormLevelGetBufferHostSize_8u32f_C1R_Ctx
                                : nppiValidNormLevelGetBufferHostSize_8u32f_C1R_Ctx,
                        larger, c.context, &scratch),
            "GetBufferHostSize", reply));
    if (c.advanced)
        TRY(npp(advanced_size(r->full ? nppiCrossCorrFull_NormLevel_GetAdvancedScratchBufferSize
                                      : nppiCrossCorrValid_NormLevel_GetAdvancedScratchBufferSize,
                              c.frame_size, c.tmpl_size, &advanced),
                "GetAdvancedScratchBufferSize", reply));
    TRY(m.scratch.allocate(scratch + 256));
    TRY(m.advanced.allocate(advanced + 256));
    c.scratch = m.scratch.data;
    c.advanced_scratch = m.advanced.data;

    const double start = wall_ms();
    TRY(cudaMemcpy2D(c.frame, c.frame_step, r->frame, width, width, (size_t)r->frame_height, cudaMemcpyHostToDevice));
    TRY(cudaMemcpy2D(c.tmpl, c.tmpl_step, r->tmpl, tmpl_width, tmpl_width, (size_t)r->template_height, cudaMemcpyHostToDevice));
    TRY(cudaDeviceSynchronize());
    reply->to_device = wall_ms() - start;
    return cudaSuccess;
}

static cudaError_t run(const baseline_request *r, baseline_reply *reply, bool advanced)
{
    const shape s = shape_of(r);
    npp_call c = {};
    memory m;

    c.full = r->full;
    c.advanced = advanced;
    TRY(prepare(r, s, c, m, reply));
    TRY(npp(call(&c), "CrossCorr", reply));
    TRY(cudaStreamSynchronize(m.stream));
    const size_t row = (size_t)s.map_width * sizeof(float);
    const double start = wall_ms();
    TRY(cudaMemcpy2D(r->map, row, c.map, c.map_step, row, (size_t)s.map_height, cudaMemcpyDeviceToHost));
    reply->from_device = wall_ms() - start;
    if (!r->accept(r->context))
        return cudaSuccess;
    return time_launches(r, reply, m.stream, [&] { return npp(call(&c), "CrossCorr", reply); });
}

static bool run_either(const baseline_request *r, baseline_reply *reply, bool advanced)
{
    if (!r->lcc)
        return unsupported(reply, "LCC only");
    return guarded(r, reply, [&] { return run(r, reply, advanced); });
}

static bool run_plain(const baseline_request *r, baseline_reply *reply)
{
    return run_either(r, reply, false);
}

static bool run_advanced(const baseline_request *r, baseline_reply *reply)
{
    return run_either(r, reply, true);
}

const baseline_module *baseline_module_get(void)
{
    static const baseline baselines[] = {
        {"npp-normlevel", "NPP CrossCorr_NormLevel", run_plain},
        {"npp-normlevel-advanced", "NPP CrossCorr_NormLevelAdvanced", run_advanced},
    };
    static const baseline_module module = {BASELINE_VERSION, 2, baselines, nullptr, nullptr,
                                           nullptr,          nullptr};
    return &module;
}
