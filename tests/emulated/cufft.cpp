/* SPDX-License-Identifier: MIT */
/* As much of cuFFT as the plugin opens, by FFTW, for emulated devices. Like the real one it
 * works in a stream's order and fills its work area. */
#include <cuda_runtime.h>
#include <dlfcn.h>
#include <fftw3.h>

#include <map>
#include <mutex>
#include <string>

#include "fft/cuda/cufft_library.cuh"

#define EXPORT extern "C" __attribute__((visibility("default")))
enum { INVALID_PLAN = 1, INVALID_VALUE = 4, INVALID_SIZE = 8, NOT_SUPPORTED = 16 };

struct fft_plan {
    fftw_plan forward = nullptr, inverse = nullptr;
    bool allocates = true;
    size_t work_bytes = 0;
    void *work = nullptr;
    cudaStream_t stream = nullptr;
    int queued = 0;
};

static std::recursive_mutex mutex;
typedef std::lock_guard<std::recursive_mutex> lock;
static auto &plans = *new std::map<int, fft_plan>;

[[noreturn]] static void fail(const char *why)
{
    fprintf(stderr, "emulated cuFFT: %s\n", why);
    abort();
}

/* Streams are the plugin's, which nothing is linked with. */
static void enqueue(cudaStream_t stream, void (*run)(void *), void *context)
{
    typedef void (*enqueue_fn)(cudaStream_t, void (*)(void *), void *);
    static const enqueue_fn found = [] {
        const char *folder = getenv("TMATCH_PLUGIN_DIR");
        const std::string path = std::string(folder ? folder : ".") + "/libtmatch-cuda.so";
        void *plugin = dlopen(path.c_str(), RTLD_NOW | RTLD_NOLOAD);
        return plugin ? (enqueue_fn)dlsym(plugin, "em_enqueue") : nullptr;
    }();
    if (!found)
        fail("there is no emulated device");
    found(stream, run, context);
}

EXPORT int cufftCreate(int *plan)
{
    lock own(mutex);
    static int last;
    plans[*plan = last++];
    return TM_CUFFT_SUCCESS;
}

EXPORT int cufftDestroy(int plan)
{
    lock own(mutex);
    if (!plans.count(plan))
        return INVALID_PLAN;
    fft_plan *p = &plans[plan];
    if (p->queued)
        fail("a plan is destroyed before it has run");
    fftw_destroy_plan(p->forward);
    fftw_destroy_plan(p->inverse);
    plans.erase(plan);
    return TM_CUFFT_SUCCESS;
}

EXPORT int cufftSetAutoAllocation(int plan, int automatic)
{
    lock own(mutex);
    plans.at(plan).allocates = automatic;
    return TM_CUFFT_SUCCESS;
}

EXPORT int cufftMakePlanMany64(int plan, int rank, long long *lengths, long long *in_embed,
                               long long, long long, long long *out_embed, long long, long long,
                               int type, long long batch, size_t *work_size)
{
    lock own(mutex);
    fft_plan *p = &plans.at(plan);
    if (rank != 2 || in_embed || out_embed || type != TM_CUFFT_Z2Z || p->allocates)
        return NOT_SUPPORTED;
    const int n[] = {(int)lengths[0], (int)lengths[1]}, points = n[0] * n[1];
    fftw_complex *any = fftw_alloc_complex((size_t)points * (size_t)batch);
    const unsigned flags = FFTW_ESTIMATE | FFTW_UNALIGNED;
    p->forward = fftw_plan_many_dft(2, n, (int)batch, any, NULL, 1, points, any, NULL, 1, points,
                                    FFTW_FORWARD, flags);
    p->inverse = fftw_plan_many_dft(2, n, (int)batch, any, NULL, 1, points, any, NULL, 1, points,
                                    FFTW_BACKWARD, flags);
    fftw_free(any);
    *work_size = p->work_bytes = (size_t)points * (size_t)batch * sizeof(fftw_complex);
    return p->forward && p->inverse ? TM_CUFFT_SUCCESS : INVALID_SIZE;
}

EXPORT int cufftSetWorkArea(int plan, void *work)
{
    lock own(mutex);
    plans.at(plan).work = work;
    return TM_CUFFT_SUCCESS;
}

EXPORT int cufftSetStream(int plan, cudaStream_t stream)
{
    lock own(mutex);
    plans.at(plan).stream = stream;
    return TM_CUFFT_SUCCESS;
}

struct execution {
    int plan, direction;
    void *work;
    double2 *points;
};

static void run(void *context)
{
    lock own(mutex);
    execution *e = (execution *)context;
    fft_plan *p = &plans.at(e->plan);
    memset(e->work, 0xff, p->work_bytes);
    fftw_execute_dft(e->direction == TM_CUFFT_FORWARD ? p->forward : p->inverse,
                     (fftw_complex *)e->points, (fftw_complex *)e->points);
    p->queued--;
    delete e;
}

EXPORT int cufftExecZ2Z(int plan, double2 *in, double2 *out, int direction)
{
    execution *e;
    cudaStream_t stream;
    {
        lock own(mutex);
        if (!plans.count(plan) || !plans[plan].forward)
            return INVALID_PLAN;
        fft_plan *p = &plans[plan];
        if (in != out || !p->work || !p->stream)
            return INVALID_VALUE;
        p->queued++;
        stream = p->stream;
        e = new execution{plan, direction, p->work, in};
    }
    enqueue(stream, run, e);
    return TM_CUFFT_SUCCESS;
}
