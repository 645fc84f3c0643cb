/* SPDX-License-Identifier: MIT */
/* A device as the library sees it: one table, which src/cpu fills in for the CPU and a plugin,
 * src/cuda, for CUDA devices. The plugin is built from the same tree: the version stands for
 * the layout of every struct that crosses, and a plugin of another version is refused. */
#ifndef TMATCH_LCC_DEVICE_H
#define TMATCH_LCC_DEVICE_H

#include "lcc/guard.h"
#include "lcc/lcc.h"

#define TM_BACKEND_VERSION 22

typedef struct tm_message {
    char text[256];
} tm_message;

/* An open device. Each backend has its own. */
typedef struct tm_device tm_device;

/* How long a device takes, in multiples of what its backend estimates without these. */
typedef struct tm_rates {
    double windows;  /* window sums and scores of the direct algorithm */
    double products; /* its products; on a CUDA device by tensor cores */
    double plain;    /* CUDA: all of it without tensor cores */
    double fft;
    double floats;   /* the direct algorithm of floats */
    double pinned, pageable; /* CUDA: copies of such memory, to the device and back */
} tm_rates;

#define TM_USUAL_RATES {1, 1, 1, 1, 1, 1, 1}

typedef struct tm_device_settings {
    int index;              /* CUDA: which device */
    int threads;            /* CPU: at least 1 */
    uint32_t features;      /* CPU: instruction sets that may be used */
    int64_t memory;         /* bytes; CPU: that FFT, or all for other than 8-bit gray, may use;
                               CUDA: that may be allocated there. 0: no limit */
    tm_algorithm algorithm; /* CPU: REFERENCE makes it match by the definition;
                               CUDA: CUFFT makes it open cuFFT's library */
    tm_guard *guard; /* CUDA: of the thread that opens and matches; lasts as long as the device, or, once
                        it is given up, until the call returns; NULL: nobody watches */
    const tm_rates *rates; /* measured, and copied; NULL: the usual ones */
} tm_device_settings;

typedef struct tm_device_traits {
    /* CPU */
    const char *kernels; /* by whose instruction set the direct algorithm works */
    int threads;

    /* CUDA */
    int multiprocessors;
    int capability;        /* 90 for 9.0; 0: not known */
    double clock_ghz;      /* of the multiprocessors; 0: not known */
    double memory_gbs;     /* gigabytes a second of its memory; 0: not known */
    bool tensor_cores;     /* of integers */
    bool certified;        /* certified search's kernels run */
    bool groups;           /* templates of one size are matched in groups, by wgmma: cuda/group_costs.h */
    int64_t shared_memory; /* bytes that a block of threads may have */
    bool fast_double;
    int longest_fft;       /* points of our own longest transform, 0 for none */
    int widest_fft;        /* columns of a template that FFT takes, whoever transforms */
    int64_t chunk_bytes;   /* that a chunk of a frame copies at most: cuda/schedule.h */
} tm_device_traits;

/* What a plan is to be made for. */
typedef struct tm_estimate_request {
    tm_algorithm algorithm; /* AUTO, DIRECT, FFT, or on CUDA CUFFT: AUTO leaves FFT out where
                               the direct algorithm is done before FFT has begun */
    int64_t memory;         /* CPU: bytes for this call in place of the settings'; 0: those */
    double missed_ms;       /* CPU: what FFT would have saved so far */
    tm_strategy strategy;   /* EXHAUSTIVE leaves certified search out */
    const tm_rates *rates;  /* in place of the settings'; NULL: those */
} tm_estimate_request;

/* How long each algorithm would take for a job, in milliseconds of the whole call: what is
 * copied to a device and back is in it. */
typedef struct tm_estimate {
    double direct_ms;
    double fft_ms;        /* INFINITY where FFT cannot run, or was left out */
    double missed_ms;     /* what FFT would save if its start had been paid for */
    const char *fault;    /* why FFT cannot run, or NULL */
    tm_fft_tiling tiling; /* where it can; length_x 0: it was left out */
    double certified_ms;  /* by the direct algorithm; INFINITY where windows cannot be left out,
                             or this was */
    const char *certified_fault; /* why they cannot, or NULL */
} tm_estimate;

/* The largest template of certified search. */
#define TM_CERTIFIED_PIXELS 65536

/* Why no device has certified search for the job, or NULL. */
static inline const char *tm_certified_fault(const tm_job *job)
{
    const tm_template *t = job->tmpl;

    return job->metric != TM_METRIC_LCC   ? "it is for the metric lcc"
           : t->f32                       ? "it is not for floats"
           : t->type != TM_SAMPLE_U8      ? "it is not for 16 bits"
           : t->channels != 1             ? "it is not for colours"
           : t->planes || job->frame.mask ? "it is not for masks"
           : t->n > TM_CERTIFIED_PIXELS   ? "the template is too large"
           : job->map.data                ? "a score map is asked for"
           : job->peaks && !job->cutter && tm_peak_list_least(job->peaks) == INT64_MIN
               ? "all peaks are asked for"
               : NULL;
}

struct tm_pose_search; /* lcc/pose_search.h */
struct tm_large_look;  /* lcc/pose_large_device.h */
struct tm_large_list;
struct tm_large_batch;

/* What a match took. */
typedef struct tm_work {
    tm_times times; /* total stays 0 */
    int64_t bytes_to_device, bytes_from_device;
    int64_t windows_again; /* of floats by FFT: too near to a rounding, and made directly */
} tm_work;

/* A copy to the host that nobody waits for. Each backend has its own. */
typedef struct tm_reader tm_reader;

/* Every function that fails writes its reason to message. */
typedef struct tm_backend {
    int version;

    /* Number of usable devices; 0 with the reason in message. */
    int (*count)(tm_message *message);

    tm_status (*describe)(int index, tm_device_info *info, tm_message *message);

    /* *device is the caller's, freed by close. Errors: MEMORY, DEVICE, DEVICE_MEMORY, and
     * INVALID where there is no cuFFT. */
    tm_status (*open)(tm_device **device, const tm_device_settings *settings,
                      tm_message *message);
    void (*close)(tm_device *device);

    tm_device_traits (*traits)(const tm_device *device);

    /* Estimates count jobs of one call, whose geometry and template are set. */
    void (*estimate)(tm_device *device, const tm_job *jobs, size_t count,
                     const tm_estimate_request *request, tm_estimate *estimates);

    /* Runs count jobs of one frame, domain and metric, those with a tiling by FFT; writes
     * each job's best, map and peaks, and *work. After DEVICE_MEMORY fewer rows may fit;
     * after DEVICE the device is to be closed; if it was not lost, it can be opened again. One whose
     * guard was given up is the backend's own: nothing is asked of it any more. */
    tm_status (*match)(tm_device *device, tm_job *jobs, size_t count, tm_work *work,
                       tm_message *message);

    /* The CPU has NULL for the rest. */

    /* About how long a row of the job's map takes, in milliseconds of a common device, with
     * or without its part of the frame's copy. A wrong number makes a match slower, never
     * different. */
    double (*row_ms)(const tm_job *job, bool with_frame);

    /* Repeats the device's part of the last successful match, with nothing
     * copied: samples batches of launches, each batch's mean to ms. The match's
     * template has to be there still. */
    tm_status (*replay)(tm_device *device, int samples, int launches, double *ms,
                        tm_message *message);

    /* Host memory that all devices copy from and to directly. Error: MEMORY. index: of
     * a device that has been opened, also one that is closed again. */
    tm_status (*host_alloc)(tm_device *device, size_t size, void **memory, tm_message *message);
    void (*host_free)(int index, void *memory);

    /* For frames in device memory; all are called in the caller's thread, whose default stream may be
     * its own. Before match: lets the device wait for the frame's stream, sets the jobs' map_on_device,
     * and refuses what lies elsewhere. Errors: INVALID, DEVICE. */
    tm_status (*accept)(tm_device *device, tm_job *jobs, size_t count, tm_message *message);

    /* After a match that nobody waits for: lets its stream wait for the device. Error: DEVICE. */
    tm_status (*hand_over)(tm_device *device, const tm_on_device *frame, tm_message *message);

    /* Copies a picture to the host: samples packed, and where there is a mask, that. Errors: as
     * accept, and DEVICE_MEMORY. */
    tm_status (*fetch)(tm_device *device, const tm_image *image, const tm_on_device *place,
                       uint8_t *samples, uint8_t *mask, tm_message *message);

    /* Memory of the device, for its frames and maps. device: NULL where it is not open any more.
     * Errors: DEVICE_MEMORY, DEVICE. */
    tm_status (*device_alloc)(tm_device *device, size_t size, void **memory, tm_message *message);
    void (*device_free)(tm_device *device, int index, void *memory);

    /* Lets the device copy size bytes of its memory to the host, in the order of the stream. *reader: one whose copy
     * is there, or NULL: it is made, for most bytes at most, and the caller's, also after an error. After an error no copy is under
     * way. Errors: INVALID, DEVICE, DEVICE_MEMORY. */
    tm_status (*read_start)(tm_device *device, tm_reader **reader, void *stream, const void *memory, size_t most,
                            size_t size, tm_message *message);

    /* *bytes: where the copy is, or NULL where it is not there yet and not to be waited for. By any thread, also
     * where the device is not open any more. Error: DEVICE. */
    tm_status (*read_bytes)(tm_reader *reader, bool wait, const void **bytes, tm_message *message);

    /* Waits for a copy that is under way. */
    void (*read_free)(tm_reader *reader);

    /* Makes a certified search in poses, whose items become all positions that reach the floor, peaks or
     * not. declined: nothing was found, and another way is to be taken. NULL: it has none. Errors as
     * those of match. */
    tm_status (*match_poses)(tm_device *device, struct tm_pose_search *search, tm_work *work,
                             tm_message *message);

    /* Look at large classes for the CPU, as tm_large_device's. NULL: it does not. Errors as those of match. */
    tm_status (*look_at_large)(tm_device *device, const struct tm_large_look *look, tm_work *work, tm_message *message);
    tm_status (*list_large)(tm_device *device, struct tm_large_list *list, tm_work *work, tm_message *message);
    tm_status (*sum_large)(tm_device *device, const struct tm_large_batch *batch, tm_work *work, tm_message *message);
} tm_backend;

#endif
