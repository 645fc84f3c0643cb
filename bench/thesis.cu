/* SPDX-License-Identifier: MIT */
/* The thesis's GPU program, as it was: float; a thread makes one outcome element;
 * the block has the template's size; it stages (2T-1)^2 elements of the
 * zero-extended frame in shared memory and loops over the taps with three sums;
 * the template lies in constant memory; sizes are fixed at compile time.
 *
 * Two liberties: rows where it had columns, and the extension is rounded up to
 * whole blocks where the outcome does not divide by the template. */
#include <chrono>
#include "baseline.cuh"

enum { MOST_TAPS = 32 * 32 };
static __constant__ float constant_template[MOST_TAPS];

template <int T, bool LCC>
static __global__ void thesis_kernel(float *outcome, int outcome_pitch, const float *frame,
                                     int frame_pitch)
{
    __shared__ float tile[2 * T - 1][2 * T - 1];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const float *corner = frame + (size_t)blockIdx.y * T * frame_pitch + blockIdx.x * T;

    for (int y = ty; y < 2 * T - 1; y += T)
        for (int x = tx; x < 2 * T - 1; x += T)
            tile[y][x] = corner[(size_t)y * frame_pitch + x];
    __syncthreads();

    float product = 0, sum = 0, squares = 0;
    for (int v = 0; v < T; v++) {
        for (int u = 0; u < T; u++) {
            const float f = tile[ty + v][tx + u];
            product += f * constant_template[v * T + u];
            if (LCC) {
                sum += f;
                squares += f * f;
            }
        }
    }
    outcome[((size_t)blockIdx.y * T + ty) * outcome_pitch + blockIdx.x * T + tx] =
        LCC ? product / sqrtf(squares - sum * sum / (T * T)) : product;
}

typedef struct thesis_launch {
    float *outcome;
    const float *frame;
    int outcome_pitch, frame_pitch;
    dim3 blocks;
} thesis_launch;

template <int T>
static cudaError_t launch_size(const thesis_launch *l, bool lcc, cudaStream_t stream)
{
    const dim3 threads(T, T);
    if (lcc)
        thesis_kernel<T, true><<<l->blocks, threads, 0, stream>>>(l->outcome, l->outcome_pitch,
                                                                  l->frame, l->frame_pitch);
    else
        thesis_kernel<T, false><<<l->blocks, threads, 0, stream>>>(l->outcome, l->outcome_pitch,
                                                                   l->frame, l->frame_pitch);
    return cudaGetLastError();
}

static cudaError_t launch(const thesis_launch *l, int size, bool lcc, cudaStream_t stream)
{
    switch (size) {
    case 4: return launch_size<4>(l, lcc, stream);
    case 5: return launch_size<5>(l, lcc, stream);
    case 8: return launch_size<8>(l, lcc, stream);
    case 16: return launch_size<16>(l, lcc, stream);
    case 21: return launch_size<21>(l, lcc, stream);
    case 32: return launch_size<32>(l, lcc, stream);
    }
    return cudaErrorInvalidValue;
}

static cudaError_t run(const baseline_request *r, baseline_reply *reply)
{
    const shape s = shape_of(r);
    const int size = (int)r->template_width;
    const int64_t across = (s.map_width + size - 1) / size, down = (s.map_height + size - 1) / size;
    const int64_t width = (across + 1) * size - 1, height = (down + 1) * size - 1;
    const std::vector<float> host = extend<float>(r, s, width, height);
    const std::vector<float> tmpl = normalized(r);
    const size_t taps_bytes = tmpl.size() * sizeof(float);
    device_array<float> frame, outcome;
    cudaStream_t stream = cudaStreamPerThread;

    TRY(frame.allocate(host.size()));
    TRY(outcome.allocate((size_t)(across * down * size * size)));
    double start = wall_ms();
    TRY(cudaMemcpy(frame.data, host.data(), host.size() * sizeof(float), cudaMemcpyHostToDevice));
    TRY(cudaMemcpyToSymbol(constant_template, tmpl.data(), taps_bytes));
    TRY(cudaDeviceSynchronize());
    reply->to_device = wall_ms() - start;

    const thesis_launch l = {outcome.data, frame.data, (int)(across * size), (int)width,
                             dim3((unsigned)across, (unsigned)down)};
    TRY(launch(&l, size, r->lcc, stream));
    TRY(cudaStreamSynchronize(stream));
    start = wall_ms();
    TRY(cudaMemcpy2D(r->map, (size_t)s.map_width * sizeof(float), outcome.data,
                     (size_t)(across * size) * sizeof(float), (size_t)s.map_width * sizeof(float),
                     (size_t)s.map_height, cudaMemcpyDeviceToHost));
    reply->from_device = wall_ms() - start;
    if (!r->accept(r->context))
        return cudaSuccess;
    return time_launches(r, reply, stream, [&] { return launch(&l, size, r->lcc, stream); });
}

static bool run_thesis(const baseline_request *r, baseline_reply *reply)
{
    static const int sizes[] = {4, 5, 8, 16, 21, 32};
    bool compiled = false;
    for (int size : sizes)
        compiled |= r->template_width == size && r->template_height == size;
    if (!compiled)
        return unsupported(reply, "its sizes are fixed at compile time: 4, 5, 8, 16, 21, 32 squared");
    return guarded(r, reply, [&] { return run(r, reply); });
}

/* Larger than the L2 cache of any GPU so far. */
static const size_t flush_bytes = (size_t)512 << 20;

static bool flush(int device)
{
    static void *memory;
    static int owner = -1;
    static unsigned char value;
    if (cudaSetDevice(device) != cudaSuccess)
        return false;
    if (owner != device) {
        cudaFree(memory);
        owner = cudaMalloc(&memory, flush_bytes) == cudaSuccess ? device : -1;
    }
    if (owner != device) {
        memory = nullptr;
        cudaGetLastError();
        return false;
    }
    return cudaMemset(memory, ++value, flush_bytes) == cudaSuccess &&
           cudaDeviceSynchronize() == cudaSuccess;
}

static cudaError_t time_copies(double *best)
{
    const size_t bytes = (size_t)2 << 30;
    device_array<char> from, to;
    cudaEvent_t events[2];
    double ms;

    TRY(from.allocate(bytes));
    TRY(to.allocate(bytes));
    TRY(cudaMemset(from.data, 0x5a, bytes));
    TRY(cudaEventCreate(&events[0]));
    TRY(cudaEventCreate(&events[1]));
    for (int i = 0; i < 5; i++) {
        TRY(time_batch([&] { return cudaMemcpyAsync(to.data, from.data, bytes,
                                                    cudaMemcpyDeviceToDevice, cudaStreamPerThread); },
                       cudaStreamPerThread, events, 4, &ms));
        if (2.0 * (double)bytes / (ms * 1e-3) > *best)
            *best = 2.0 * (double)bytes / (ms * 1e-3);
    }
    cudaEventDestroy(events[0]);
    cudaEventDestroy(events[1]);
    return cudaSuccess;
}

static double copy_rate(int device)
{
    double best = 0;
    if (cudaSetDevice(device) != cudaSuccess || time_copies(&best) != cudaSuccess) {
        cudaGetLastError();
        return 0;
    }
    return best;
}

static int64_t memory_used(int device)
{
    size_t available, total;
    if (cudaSetDevice(device) == cudaSuccess && cudaMemGetInfo(&available, &total) == cudaSuccess)
        return (int64_t)(total - available);
    cudaGetLastError();
    return 0;
}

enum { MOST_UPLOADS = 64 };

static double upload(int device, const void *from, size_t size)
{
    static void *memory[MOST_UPLOADS];
    static size_t sizes[MOST_UPLOADS];
    if (device >= MOST_UPLOADS || cudaSetDevice(device) != cudaSuccess)
        return -1;
    if (sizes[device] < size) {
        cudaFree(memory[device]);
        sizes[device] = cudaMalloc(&memory[device], size) == cudaSuccess ? size : 0;
    }
    if (!sizes[device])
        return -1;
    const auto start = std::chrono::steady_clock::now();
    cudaError_t error = cudaMemcpyAsync(memory[device], from, size, cudaMemcpyHostToDevice,
                                        cudaStreamPerThread);
    if (error == cudaSuccess)
        error = cudaStreamSynchronize(cudaStreamPerThread);
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    return error == cudaSuccess ? took.count() : -1;
}

const baseline_module *baseline_module_get(void)
{
    static const baseline baselines[] = {
        {"thesis-gpu", "the thesis's kernel as it was", run_thesis},
    };
    static const baseline_module module = {BASELINE_VERSION, 1,           baselines, flush,
                                           copy_rate,        memory_used, upload};
    return &module;
}
