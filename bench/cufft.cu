/* SPDX-License-Identifier: MIT */
/* Whole-frame correlation through cuFFT, in float as the thesis's rival, and in
 * double, the precision of tmatch's own transforms: transform the frame, multiply
 * with the template's conjugate spectrum, transform back; for LCC also the window
 * sums and the quotient. The template's spectrum and the plans are prepared before
 * and not timed. */
#include <cufft.h>

#include "baseline.cuh"

enum { SCORE_THREADS = 256, MOST_COLUMNS = 1024, SEGMENT = 64 };

/* The smallest even length from least on whose prime factors are 2, 3, 5, 7. */
static int64_t fft_length(int64_t least)
{
    for (int64_t length = least + least % 2;; length += 2) {
        int64_t rest = length;
        for (int prime : {2, 3, 5, 7})
            while (rest % prime == 0)
                rest /= prime;
        if (rest == 1)
            return length;
    }
}

struct single {
    typedef float real;
    typedef cufftComplex complex;
    static const cufftType FORWARD = CUFFT_R2C, BACK = CUFFT_C2R;
    static cufftResult forward(cufftHandle plan, real *in, complex *out)
    {
        return cufftExecR2C(plan, in, out);
    }
    static cufftResult back(cufftHandle plan, complex *in, real *out)
    {
        return cufftExecC2R(plan, in, out);
    }
};

struct twice {
    typedef double real;
    typedef cufftDoubleComplex complex;
    static const cufftType FORWARD = CUFFT_D2Z, BACK = CUFFT_Z2D;
    static cufftResult forward(cufftHandle plan, real *in, complex *out)
    {
        return cufftExecD2Z(plan, in, out);
    }
    static cufftResult back(cufftHandle plan, complex *in, real *out)
    {
        return cufftExecZ2D(plan, in, out);
    }
};

template <class P>
static __global__ void multiply(typename P::complex *frame, const typename P::complex *tmpl,
                                int64_t count, typename P::real scale)
{
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < count;
         i += (int64_t)gridDim.x * blockDim.x) {
        const typename P::complex a = frame[i], b = tmpl[i];
        frame[i].x = (a.x * b.x + a.y * b.y) * scale;
        frame[i].y = (a.y * b.x - a.x * b.y) * scale;
    }
}

/* sums[y][x] = (sum F, sum F^2) over rows y .. y + h - 1 of column x. */
static __global__ void column_sums(uint2 *sums, const uint8_t *frame, int width, int map_height,
                                   int h)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int first = blockIdx.y * SEGMENT, last = min(first + SEGMENT, map_height);
    if (x >= width)
        return;
    uint2 sum = make_uint2(0, 0);
    const uint8_t *column = frame + (size_t)first * width + x;
    for (int v = 0; v < h - 1; v++) {
        const unsigned f = column[(size_t)v * width];
        sum.x += f;
        sum.y += f * f;
    }
    for (int y = first; y < last; y++, column += width) {
        const unsigned in = column[(size_t)(h - 1) * width], out = column[0];
        sum.x += in;
        sum.y += in * in;
        sums[(size_t)y * width + x] = sum;
        sum.x -= out;
        sum.y -= out * out;
    }
}

template <class P>
static __global__ void score(float *map, const typename P::real *products, int pitch, const uint2 *sums,
                             int width, int map_width, int w, int64_t n)
{
    __shared__ uint2 row[SCORE_THREADS + MOST_COLUMNS];
    const int first = blockIdx.x * SCORE_THREADS, y = blockIdx.y, x = first + threadIdx.x;
    for (int i = threadIdx.x; i < SCORE_THREADS + w - 1 && first + i < width; i += SCORE_THREADS)
        row[i] = sums[(size_t)y * width + first + i];
    __syncthreads();
    if (x >= map_width)
        return;
    int64_t sum = 0, squares = 0;
    for (int u = 0; u < w; u++) {
        sum += row[threadIdx.x + u].x;
        squares += row[threadIdx.x + u].y;
    }
    const float variance = (float)(n * squares - sum * sum) / (float)n;
    map[(size_t)y * map_width + x] =
        variance > 0 ? (float)products[(size_t)y * pitch + x] * rsqrtf(variance) : 0;
}

struct plans {
    cufftHandle forward = 0, back = 0;
    cudaStream_t stream = nullptr;
    ~plans()
    {
        if (stream)
            cudaStreamDestroy(stream);
        if (forward)
            cufftDestroy(forward);
        if (back)
            cufftDestroy(back);
    }
};

static cudaError_t fft(cufftResult result, baseline_reply *reply)
{
    if (result == CUFFT_SUCCESS)
        return cudaSuccess;
    snprintf(reply->note, sizeof reply->note, "cuFFT error %d", (int)result);
    return cudaErrorUnknown;
}

static __global__ void to_float(float *map, const double *products, int width, int map_width)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    if (x < map_width)
        map[(size_t)blockIdx.y * map_width + x] = (float)products[(size_t)blockIdx.y * width + x];
}

/* Everything on the device. */
template <class P>
struct work {
    device_array<typename P::real> frame, products;
    device_array<float> map;
    device_array<typename P::complex> spectrum, tmpl;
    device_array<uint8_t> bytes;
    device_array<uint2> sums;
    plans plan;
};

template <class P>
static cudaError_t correlate(const baseline_request *r, const shape &s, work<P> &k, int64_t width,
                             int64_t height, cudaStream_t stream, baseline_reply *reply)
{
    const int64_t bins = height * (width / 2 + 1);
    TRY(fft(P::forward(k.plan.forward, k.frame.data, k.spectrum.data), reply));
    multiply<P><<<1056, 256, 0, stream>>>(k.spectrum.data, k.tmpl.data, bins,
                                          (typename P::real)(1.0 / (double)(width * height)));
    TRY(cudaGetLastError());
    TRY(fft(P::back(k.plan.back, k.spectrum.data, k.products.data), reply));
    if (!r->lcc)
        return cudaSuccess;
    const dim3 columns((unsigned)((s.width + 255) / 256), (unsigned)((s.map_height + SEGMENT - 1) / SEGMENT));
    column_sums<<<columns, 256, 0, stream>>>(k.sums.data, k.bytes.data, (int)s.width,
                                             (int)s.map_height, (int)r->template_height);
    const dim3 rows((unsigned)((s.map_width + SCORE_THREADS - 1) / SCORE_THREADS), (unsigned)s.map_height);
    score<P><<<rows, SCORE_THREADS, 0, stream>>>(
        k.map.data, k.products.data, (int)width, k.sums.data, (int)s.width, (int)s.map_width,
        (int)r->template_width, r->template_width * r->template_height);
    return cudaGetLastError();
}

template <class P>
static cudaError_t prepare_template(const baseline_request *r, work<P> &k, int64_t width,
                                    int64_t height, cudaStream_t stream, baseline_reply *reply)
{
    typedef typename P::real real;
    const std::vector<float> values = normalized(r);
    const std::vector<real> tmpl(values.begin(), values.end());
    const size_t row = (size_t)r->template_width * sizeof(real);
    TRY(cudaMemsetAsync(k.products.data, 0, (size_t)(width * height) * sizeof(real), stream));
    TRY(cudaMemcpy2DAsync(k.products.data, (size_t)width * sizeof(real), tmpl.data(), row, row,
                          (size_t)r->template_height, cudaMemcpyHostToDevice, stream));
    TRY(fft(P::forward(k.plan.forward, k.products.data, k.tmpl.data), reply));
    return cudaStreamSynchronize(stream);
}

template <class P>
static cudaError_t prepare(const baseline_request *r, const shape &s, work<P> &k, int64_t width,
                           int64_t height, cudaStream_t stream, baseline_reply *reply)
{
    typedef typename P::real real;
    const int64_t bins = height * (width / 2 + 1);
    TRY(k.frame.allocate((size_t)(width * height)));
    TRY(k.products.allocate((size_t)(width * height)));
    TRY(k.spectrum.allocate((size_t)bins));
    TRY(k.tmpl.allocate((size_t)bins));
    if (r->lcc) {
        TRY(k.bytes.allocate((size_t)(s.width * s.height)));
        TRY(k.sums.allocate((size_t)(s.width * s.map_height)));
    }
    TRY(k.map.allocate((size_t)(s.map_width * s.map_height)));
    TRY(fft(cufftPlan2d(&k.plan.forward, (int)height, (int)width, P::FORWARD), reply));
    TRY(fft(cufftPlan2d(&k.plan.back, (int)height, (int)width, P::BACK), reply));
    TRY(fft(cufftSetStream(k.plan.forward, stream), reply));
    TRY(fft(cufftSetStream(k.plan.back, stream), reply));

    const std::vector<real> host = extend<real>(r, s, width, height);
    const double start = wall_ms();
    TRY(cudaMemcpy(k.frame.data, host.data(), host.size() * sizeof(real), cudaMemcpyHostToDevice));
    reply->to_device = wall_ms() - start;
    if (r->lcc) {
        const std::vector<uint8_t> bytes = extend<uint8_t>(r, s, s.width, s.height);
        TRY(cudaMemcpy(k.bytes.data, bytes.data(), bytes.size(), cudaMemcpyHostToDevice));
    }
    return prepare_template(r, k, width, height, stream, reply);
}

/* The map as floats, dense. */
static cudaError_t gather(const shape &s, work<twice> &k, int64_t width)
{
    const dim3 grid((unsigned)((s.map_width + 255) / 256), (unsigned)s.map_height);
    to_float<<<grid, 256>>>(k.map.data, k.products.data, (int)width, (int)s.map_width);
    return cudaGetLastError();
}

static cudaError_t gather(const shape &s, work<single> &k, int64_t width)
{
    const size_t row = (size_t)s.map_width * sizeof(float);
    return cudaMemcpy2D(k.map.data, row, k.products.data, (size_t)width * sizeof(float), row,
                        (size_t)s.map_height, cudaMemcpyDeviceToDevice);
}

template <class P>
static cudaError_t run(const baseline_request *r, baseline_reply *reply)
{
    shape s = shape_of(r);
    /* The zeros before the frame serve the far side too: the transform is cyclic. */
    const int64_t width = fft_length(r->frame_width + s.pad_x);
    const int64_t height = fft_length(r->frame_height + s.pad_y);
    work<P> k;
    TRY(cudaStreamCreate(&k.plan.stream));
    const cudaStream_t stream = k.plan.stream;

    TRY(prepare(r, s, k, width, height, stream, reply));
    TRY(correlate(r, s, k, width, height, stream, reply));
    TRY(cudaStreamSynchronize(stream));
    if (!r->lcc)
        TRY(gather(s, k, width));
    const double start = wall_ms();
    TRY(cudaMemcpy(r->map, k.map.data,
                   (size_t)(s.map_width * s.map_height) * sizeof(float), cudaMemcpyDeviceToHost));
    reply->from_device = wall_ms() - start;
    if (!r->accept(r->context))
        return cudaSuccess;
    return time_launches(r, reply, stream,
                         [&] { return correlate(r, s, k, width, height, stream, reply); });
}

template <class P>
static bool run_cufft(const baseline_request *r, baseline_reply *reply)
{
    if (r->template_width > MOST_COLUMNS || r->template_height > 66000)
        return unsupported(reply, "a template of at most 1024 columns and 66000 rows");
    if (shape_of(r).map_height > 65535)
        return unsupported(reply, "a map of at most 65535 rows");
    return guarded(r, reply, [&] { return run<P>(r, reply); });
}

const baseline_module *baseline_module_get(void)
{
    static const baseline baselines[] = {
        {"cufft", "whole-frame float correlation through cuFFT", run_cufft<single>},
        {"cufft-double", "the same in double", run_cufft<twice>},
    };
    static const baseline_module module = {BASELINE_VERSION, 2, baselines, nullptr, nullptr,
                                           nullptr,          nullptr};
    return &module;
}
