/* SPDX-License-Identifier: MIT */
/* A device on the CPU. The threads of a block are fibers that take turns where they wait
 * for each other; blocks run one after the other. Streams are queues: which one goes on
 * is drawn from TMATCH_TEST_SEED, so that work that lacks a wait comes in a wrong order
 * sooner or later. All of it is one lock's. TMATCH_EMULATED_DEVICES says how many devices there are; they
 * share the streams' turns. memory.cpp has their memory. */
#include "device.h"

#include <setjmp.h>
#include <ucontext.h>

#include <deque>
#include <set>
#include <vector>

enum { MOST_THREADS = 1024, STACK_BYTES = 1 << 16, SHARED_BYTES = 232448 };
enum { RUNS = 0, ENDED = EM_OTHERS + 1 };
enum { MOST_IDLE = 10000 }; /* turns of a block whose threads only let others run */

int em_thread;
dim3 em_block, em_grid, em_threads;
alignas(1024) uint8_t em_shared[SHARED_BYTES];
uint64_t em_shown[MOST_THREADS];

std::recursive_mutex em_mutex;

void em_fail(const char *why)
{
    fprintf(stderr, "emulated device: %s\n", why);
    abort();
}

struct copy {
    unsigned to;
    const void *from;
    unsigned bytes;
};

/* Fibers are kept from block to block. These, and whatever else is kept, are never destroyed: where a device was given up, its thread may
 * still be at work when the process ends. */
struct fiber {
    std::vector<char> stack;
    jmp_buf at;
    int state;
    std::vector<std::vector<copy>> copies; /* groups, of which the last one is open */
};
static fiber *const fibers = new fiber[MOST_THREADS]();

static jmp_buf scheduler;
static const std::function<void()> *kernel;

static int64_t done; /* how often threads got somewhere */

static void leave(int state)
{
    fiber *f = &fibers[em_thread];
    done += state != EM_OTHERS;
    f->state = state;
    if (!_setjmp(f->at))
        _longjmp(scheduler, 1);
}

int em_products[MOST_THREADS / 32];

void em_wait_for(em_wait others)
{
    leave(others);
}

void em_copy(unsigned to, const void *from, unsigned bytes)
{
    if (to % bytes || (size_t)from % bytes)
        em_fail("a copy at an address that is no multiple of its size");
    fiber *f = &fibers[em_thread];
    f->copies.resize(max(f->copies.size(), (size_t)1));
    f->copies.back().push_back({to, from, bytes});
}

void em_copy_group()
{
    fibers[em_thread].copies.emplace_back();
}

void em_copy_wait(int last)
{
    auto &copies = fibers[em_thread].copies;
    while ((int)copies.size() > last + 1) {
        for (const copy &c : copies.front())
            memcpy(em_shared + (int)c.to, c.from, c.bytes);
        copies.erase(copies.begin());
    }
}

static void run_fiber()
{
    for (;;) {
        (*kernel)();
        leave(ENDED);
    }
}

static void resume(int thread)
{
    fiber *f = &fibers[thread];
    em_thread = thread;
    if (_setjmp(scheduler))
        return;
    if (!f->stack.empty())
        _longjmp(f->at, 1);
    static ucontext_t context;
    f->stack.resize(STACK_BYTES);
    getcontext(&context);
    context.uc_stack.ss_sp = f->stack.data();
    context.uc_stack.ss_size = f->stack.size();
    makecontext(&context, run_fiber, 0);
    setcontext(&context);
}

static int count_in(int first, int end, int state)
{
    int count = 0;
    for (int i = first; i < end; i++)
        count += fibers[i].state == state;
    return count;
}

static void let_run(int first, int end, int state)
{
    for (int i = first; i < end; i++) {
        if (fibers[i].state == state)
            fibers[i].state = RUNS;
    }
}

/* Until all of the warp's threads have ended, wait for the block or let others run. */
static void run_warp(int first, int end)
{
    for (;;) {
        for (int i = first; i < end; i++) {
            if (fibers[i].state == RUNS)
                resume(i);
        }
        const int waiting = count_in(first, end, EM_WARP);
        if (waiting == 0)
            return;
        if (waiting < end - first) {
            if (count_in(first, end, EM_OTHERS) == 0)
                em_fail("not all lanes of a warp take part");
            return;
        }
        let_run(first, end, EM_WARP);
    }
}

/* Warps take turns; in a block whose threads wait for each other, they fall behind now and then. */
static void run_block(int threads)
{
    static uint32_t drawn = 1;
    int idle = 0, behind[MOST_THREADS / 32] = {};
    for (int i = 0; i < threads; i++) {
        fibers[i].state = RUNS;
        fibers[i].copies.clear();
    }
    memset(em_shared, 0xee, sizeof em_shared);
    memset(em_products, 0, sizeof em_products);
    for (int ended = 0; ended < threads; ended = count_in(0, threads, ENDED)) {
        const int64_t before = done;
        const bool others = count_in(0, threads, EM_OTHERS) > 0;
        if (ended + count_in(0, threads, EM_BLOCK) == threads)
            let_run(0, threads, EM_BLOCK);
        for (int first = 0; first < threads; first += 32) {
            int &turns = behind[first / 32];
            drawn = drawn * 1664525 + 1013904223;
            if (others && turns == 0 && drawn >> 24 == 0)
                turns = (int)(drawn >> 8 & 63);
            if (turns > 0) {
                turns--;
                continue;
            }
            let_run(first, min(first + 32, threads), EM_OTHERS);
            run_warp(first, min(first + 32, threads));
        }
        idle = done == before ? idle + 1 : 0;
        if (idle > MOST_IDLE)
            em_fail("threads of a block that wait for each other for ever");
    }
    for (int warp = 0; warp < threads / 32; warp++)
        if (em_products[warp] != em_products[warp / 4 * 4])
            em_fail("products that not all warps of a group take part in");
}

static void run_grid(dim3 grid, dim3 threads, const std::function<void()> &body)
{
    kernel = &body;
    em_grid = grid;
    em_threads = threads;
    for (em_block.z = 0; em_block.z < grid.z; em_block.z++)
        for (em_block.y = 0; em_block.y < grid.y; em_block.y++)
            for (em_block.x = 0; em_block.x < grid.x; em_block.x++)
                run_block((int)(threads.x * threads.y));
}

static thread_local int current;

int em_current_device()
{
    return current;
}

/* An event that is recorded several times is waited for as it was at the wait. */
struct em_event {
    int device = current;
    int64_t recorded = 0, time = 0;
    std::set<int64_t> pending;
};

struct operation {
    std::function<void()> run;
    em_event *event = nullptr; /* to wait for, */
    int64_t instance = 0;      /* as it was recorded then */
};

struct em_stream {
    int device = current;
    std::deque<operation> queue;
};

static auto &streams = *new std::vector<em_stream *>, &default_streams = *new std::vector<em_stream *>; /* the latter a device's each */
static int64_t now;

static int device_count()
{
    static const char *count = getenv("TMATCH_EMULATED_DEVICES");
    return count ? atoi(count) : 1;
}

/* The stream itself, or its device's default stream; NULL where there is no such stream. */
static em_stream *find_stream(cudaStream_t stream)
{
    if ((uintptr_t)stream > 2)
        return std::find(streams.begin(), streams.end(), stream) == streams.end() ? nullptr : stream;
    default_streams.resize(device_count());
    em_stream *&own = default_streams[current];
    if (!own)
        streams.push_back(own = new em_stream);
    return own;
}

static unsigned draw()
{
    static const char *seed = getenv("TMATCH_TEST_SEED");
    static uint64_t state = (seed ? strtoull(seed, nullptr, 10) : 1) * 2 + 1;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (unsigned)(state >> 20);
}

static bool step()
{
    static em_stream *last;
    std::vector<em_stream *> ready;

    for (em_stream *s : streams) {
        if (s->queue.empty())
            continue;
        const operation &first = s->queue.front();
        if (!first.event || !first.event->pending.count(first.instance))
            ready.push_back(s);
    }
    if (ready.empty())
        return false;
    em_stream *next = ready[draw() % ready.size()];
    if (draw() % 4 && std::find(ready.begin(), ready.end(), last) != ready.end())
        next = last; /* long runs of one */
    last = next;
    const operation o = next->queue.front();
    next->queue.pop_front();
    em_open_memory(true);
    o.run();
    em_open_memory(false);
    now++;
    return true;
}

static void run_until(const std::function<bool()> &done)
{
    em_lock own(em_mutex);
    while (!done()) {
        if (!step())
            em_fail("streams wait for each other");
    }
}

static cudaError_t push(cudaStream_t stream, operation o)
{
    em_lock own(em_mutex);
    em_stream *found = find_stream(stream);
    if (!found)
        return cudaErrorInvalidResourceHandle;
    found->queue.push_back(o);
    return cudaSuccess;
}

cudaError_t em_push(cudaStream_t stream, std::function<void()> run)
{
    return push(stream, {run});
}

/* For libraries beside the plugin: cufft.cpp. */
extern "C" __attribute__((visibility("default"))) void em_enqueue(cudaStream_t stream,
                                                                  void (*run)(void *), void *context)
{
    push(stream, {[=] { run(context); }});
}

void em_run_all()
{
    run_until([] {
        return std::all_of(streams.begin(), streams.end(),
                           [](em_stream *s) { return s->queue.empty(); });
    });
}

void em_launch(dim3 grid, dim3 threads, size_t shared, cudaStream_t stream,
               std::function<void()> body)
{
    if (shared > SHARED_BYTES || threads.x * threads.y * threads.z > MOST_THREADS)
        em_fail("a launch that no device takes");
    push(stream, {[=] { run_grid(grid, threads, body); }});
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, int)
{
    em_lock own(em_mutex);
    streams.push_back(*stream = new em_stream);
    return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    em_lock own(em_mutex);
    cudaStreamSynchronize(stream);
    streams.erase(std::find(streams.begin(), streams.end(), stream));
    delete stream;
    return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    em_lock own(em_mutex);
    const em_stream *found = find_stream(stream);
    if (!found)
        return cudaErrorInvalidResourceHandle;
    run_until([=] { return found->queue.empty(); });
    return cudaSuccess;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, int)
{
    em_lock own(em_mutex);
    return push(stream, {[] {}, event, event->recorded});
}

cudaError_t cudaEventCreate(cudaEvent_t *event)
{
    *event = new em_event;
    return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    em_run_all();
    delete event;
    return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    em_lock own(em_mutex);
    const em_stream *found = find_stream(stream);
    if (!found || found->device != event->device)
        return cudaErrorInvalidResourceHandle;
    const int64_t instance = ++event->recorded;
    event->pending.insert(instance);
    return push(stream, {[=] {
                    event->pending.erase(instance);
                    event->time = now;
                }});
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    em_lock own(em_mutex);
    const int64_t instance = event->recorded;
    run_until([=] { return !event->pending.count(instance); });
    return cudaSuccess;
}

/* Time passes while somebody asks again and again. */
cudaError_t cudaEventQuery(cudaEvent_t event)
{
    em_lock own(em_mutex);
    const bool done = !event->pending.count(event->recorded);
    if (!done)
        step();
    return done ? cudaSuccess : cudaErrorNotReady;
}

cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t from, cudaEvent_t to)
{
    em_lock own(em_mutex);
    if (!from->recorded || !to->recorded || !from->pending.empty() || !to->pending.empty())
        em_fail("a time that has not come");
    if (to->time < from->time)
        em_fail("times in a wrong order");
    *ms = (float)(to->time - from->time);
    return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int)
{
    *properties = {};
    strcpy(properties->name, "emulated");
    properties->major = 7; /* no tensor cores for integers */
    properties->multiProcessorCount = 5;
    properties->totalGlobalMem = (size_t)4 << 30;
    properties->sharedMemPerBlockOptin = SHARED_BYTES;
    return cudaSuccess;
}

cudaError_t cudaGetDeviceCount(int *count)
{
    *count = device_count();
    return cudaSuccess;
}

cudaError_t cudaSetDevice(int device)
{
    if (device < 0 || device >= device_count())
        return cudaErrorInvalidDevice;
    current = device;
    return cudaSuccess;
}

/* For tests, which have streams and memory of their own: tests/device_memory.c. */
#define EXPORT extern "C" __attribute__((visibility("default")))

EXPORT cudaError_t em_cudaSetDevice(int device)
{
    return cudaSetDevice(device);
}

EXPORT cudaError_t em_cudaStreamCreate(cudaStream_t *stream)
{
    return cudaStreamCreateWithFlags(stream, 0);
}

EXPORT cudaError_t em_cudaStreamDestroy(cudaStream_t stream)
{
    return cudaStreamDestroy(stream);
}

EXPORT cudaError_t em_cudaStreamSynchronize(cudaStream_t stream)
{
    return cudaStreamSynchronize(stream);
}

/* How many operations of streams have run so far. */
EXPORT int64_t em_steps()
{
    em_lock own(em_mutex);
    return now;
}
