/* SPDX-License-Identifier: MIT */
/*
 * tmatch: finds where a small picture (the template) lies in a larger one (the
 * frame) by the local correlation coefficient (LCC; also ZNCC, normxcorr2,
 * TM_CCOEFF_NORMED), with exact integer sums.
 *
 * Rules that hold for every function:
 *  - A function that can fail returns a tm_status. On failure no output
 *    argument is written, unless its comment says otherwise, and what the
 *    caller passed in stays the caller's.
 *  - Pictures and maps belong to the caller and are only used during the call.
 *  - A matcher and the templates made with it are used by one thread at a time.
 *    Different matchers may be used by different threads at once.
 *  - The library prints nothing, never exits and keeps no global state.
 *  - A process that was forked may go on with its parent's matchers, on the CPU; a
 *    matcher whose devices the parent opened fails with DEVICE, or with TM_DEVICE_AUTO
 *    goes on without them. Where "the caller's thread" is said below, it may then be
 *    another one that the call starts and waits for.
 *  - Sizes are in pixels, strides in bytes, x grows to the right, y downwards,
 *    positions count from 0.
 */
#ifndef TMATCH_TMATCH_H
#define TMATCH_TMATCH_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define TM_API __attribute__((visibility("default")))
#else
#define TM_API
#endif

typedef enum tm_status {
    TM_OK = 0,
    TM_ERR_INVALID = 1,            /* an argument or setting is outside its range */
    TM_ERR_MEMORY = 2,             /* host memory ran out */
    TM_ERR_FLAT_TEMPLATE = 3,      /* all samples are equal: LCC is not defined */
    TM_ERR_TEMPLATE_TOO_LARGE = 4, /* more than TM_MAX_TEMPLATE_PIXELS */
    TM_ERR_FRAME_TOO_SMALL = 5,    /* the template is wider or higher than the frame */
    TM_ERR_NO_DEVICE = 6,          /* the requested device does not exist here */
    TM_ERR_DEVICE_MEMORY = 7,      /* device memory ran out */
    TM_ERR_DEVICE = 8,             /* the device or its driver failed */
    TM_ERR_NO_POSITION = 9,        /* the frame's mask leaves no position to score */
    TM_ERR_ROWS = 10               /* a frame's rows were not delivered, or a map's not taken */
} tm_status;

/* A sentence fragment in English for a status, never NULL. Static storage. */
TM_API const char *tm_strerror(tm_status status);

/* "MAJOR.MINOR.PATCH" of the library. Static storage. */
TM_API const char *tm_version(void);

/* 8-bit gray: n * (sum of squares) stays below 2^63. */
#define TM_MAX_TEMPLATE_PIXELS ((int64_t)1 << 23)

#define TM_MAX_CHANNELS 4

typedef enum tm_sample_type {
    TM_SAMPLE_U8 = 0,
    TM_SAMPLE_U16 = 1, /* in the machine's byte order */
    TM_SAMPLE_F32 = 2  /* float, finite values: scores are accurate
                          within the bounds in docs/exactness.md, not the same bits
                          everywhere, and every metric's values are floats */
} tm_sample_type;

/* A picture. Row y starts at samples + y * stride, a pixel's channels lie side by
 * side. Zero-initialised fields after stride make it 8-bit gray without a mask. */
typedef struct tm_image {
    const uint8_t *samples; /* aligned to the sample's size */
    int64_t width;          /* > 0 */
    int64_t height;         /* > 0 */
    ptrdiff_t stride;       /* bytes from one row to the next, |stride| >= a row's,
                               a multiple of the sample's size */
    tm_sample_type type;
    int channels;           /* 1 to TM_MAX_CHANNELS; 0 is 1 */
    /* A byte a pixel, or NULL. A template's pixels of mask 0 do not count: every
     * sum is over the others. A frame's are not to be touched: a position whose
     * window has one under a pixel that counts is skipped; it is never a match,
     * and the map has tm_map_skipped's value there. */
    const uint8_t *mask;
    ptrdiff_t mask_stride;  /* bytes, |mask_stride| >= width */
} tm_image;

/* The sums are over the template's pixels and all channels; the frame and the
 * template have the same number of channels, and each channel its own mean.
 * docs/exactness.md has the formulas, operation by operation. No value is ever
 * NaN or infinite. The best match is the greatest value, the least where the
 * metric is a distance. */
typedef enum tm_metric {
    /* n*S_FT - S_F*S_T over sqrt(var_F * var_T), a binary32 value in [-1, 1];
     * 0 where the window is flat. OpenCV's TM_CCOEFF_NORMED. */
    TM_METRIC_LCC = 0,
    /* S_FT, the plain correlation, an exact integer. */
    TM_METRIC_CCORR = 1,
    /* S_FT / sqrt(S_FF * S_TT), binary32 in [0, 1]; 0 where the window is. */
    TM_METRIC_CCORR_NORMED = 2,
    /* S_FT - S_F*S_T/n, binary32; 0 where the window is flat. */
    TM_METRIC_CCOEFF = 3,
    /* The sum of (F - T)^2, an exact integer; a distance. */
    TM_METRIC_SQDIFF = 4,
    /* That over sqrt(S_FF * S_TT), where 0 counts as 1: binary32, a distance, not
     * clipped at 1. */
    TM_METRIC_SQDIFF_NORMED = 5
} tm_metric;

/* "lcc", "ccorr", "ccorr_normed", "ccoeff", "sqdiff", "sqdiff_normed", or NULL if
 * there is no such metric. Static storage. */
TM_API const char *tm_metric_name(tm_metric metric);

/* Whether the metric's values are integers (int64_t in the map, else float), of
 * pictures that are not of floats, and whether the best is the least. */
TM_API int tm_metric_is_integer(tm_metric metric);
TM_API int tm_metric_is_distance(tm_metric metric);

/* Which positions of the template's top-left corner are scored.
 * W x H is the frame, w x h the template. */
typedef enum tm_domain {
    TM_DOMAIN_VALID = 0, /* template inside the frame: W-w+1 x H-h+1 */
    TM_DOMAIN_SAME = 1,  /* W x H: map element (x, y) is the window whose
                            top-left corner is (x-(w-1)/2, y-(h-1)/2) */
    TM_DOMAIN_FULL = 2   /* W+w-1 x H+h-1: every overlap; the frame is extended
                            with zeros, as it is for SAME */
} tm_domain;

typedef enum tm_algorithm {
    TM_ALGORITHM_AUTO = 0,
    TM_ALGORITHM_REFERENCE = 1, /* the definition, slow; the oracle of the tests */
    TM_ALGORITHM_DIRECT = 2,    /* products, template by window */
    TM_ALGORITHM_FFT = 3,       /* tiles by FFT, where rounding to the exact sums is
                                   proven; the same bits */
    TM_ALGORITHM_CUFFT = 4      /* the same by NVIDIA's cuFFT, if libcufft.so is there; CUDA
                                   only: device AUTO is CUDA then. AUTO never takes it */
} tm_algorithm;

/* Which windows the direct algorithm scores. The answer is the same bits, but for PYRAMID. */
typedef enum tm_strategy {
    TM_STRATEGY_AUTO = 0,       /* CERTIFIED where that is expected to be quicker, else EXHAUSTIVE */
    TM_STRATEGY_EXHAUSTIVE = 1, /* every window */
    TM_STRATEGY_CERTIFIED = 2,  /* all but those that a bound proves to score less than what is
                                   asked for. Where there is no such bound, which
                                   tm_matcher_plan then says, it is as EXHAUSTIVE */
    TM_STRATEGY_PYRAMID = 3     /* for templates in poses, on the CPU: those that look likely in a
                                   reduced frame, and those around them. What it reports is exact,
                                   but it may miss matches. Where the template would not be
                                   recognized in a reduced frame it is as AUTO */
} tm_strategy;

typedef enum tm_device_kind {
    TM_DEVICE_AUTO = 0, /* CPU, or CUDA when the work is worth its start-up */
    TM_DEVICE_CPU = 1,
    TM_DEVICE_CUDA = 2
} tm_device_kind;

/* Instruction sets. A processor's kernels need every set that theirs builds on:
 * AVX2 comes with FMA, AVX512BW with F, DQ and VL, AVX512VNNI after AVX512BW,
 * AMX_INT8 after AVX512VNNI. Every set makes the same bits. */
typedef enum tm_cpu_feature {
    TM_CPU_SSE41 = 1 << 0,
    TM_CPU_AVX2 = 1 << 1,
    TM_CPU_AVX512BW = 1 << 2,
    TM_CPU_AVX512VNNI = 1 << 3,
    TM_CPU_AVXVNNI = 1 << 4, /* 256 bits, without AVX-512 */
    TM_CPU_AMX_INT8 = 1 << 5,
    TM_CPU_DOTPROD = 1 << 6 /* arm64 */
} tm_cpu_feature;

/* The TM_CPU_ bits of this processor that this build has kernels for. */
TM_API uint32_t tm_cpu_features(void);

/* Reads a mask for tm_settings: "none", "all", or names with commas between,
 * "sse4.1", "avx2", "avxvnni", "avx512bw", "avx512vnni", "amx", "dotprod", each
 * with the sets that it builds on. Error: INVALID. */
TM_API tm_status tm_cpu_features_parse(const char *text, uint32_t *features);

/* The name of one TM_CPU_ bit, or NULL. Static storage. */
TM_API const char *tm_cpu_feature_name(uint32_t feature);

/* Fill with tm_settings_default, change what you need. */
typedef struct tm_settings {
    size_t size; /* sizeof(tm_settings) as the caller was compiled */
    tm_metric metric;
    tm_domain domain;
    tm_algorithm algorithm;
    tm_device_kind device;
    int device_index;      /* which CUDA device, from 0 */
    int threads;           /* CPU threads at most; 0: as many as the process may run on */
    uint32_t cpu_features; /* TM_CPU_ bits that may be used; all by default */
    uint64_t device_mask;  /* CUDA devices that share each frame, bit i for device i, and
                              TM_ALL_DEVICES; 0: device_index alone */
    int64_t device_memory; /* bytes that the matcher may use on each CUDA device, besides
                              what CUDA itself takes; 0: no limit but the device's */
    int64_t host_memory;   /* bytes of the host's that tm_match_rows may use; of which the
                              FFT, and the CPU's correlations of planes of colour, 16 bits
                              and masks take a quarter at most; 0: 1 GiB, no limit, 1 GiB */
    tm_strategy strategy;  /* CERTIFIED is for the algorithms AUTO and DIRECT */
    double device_timeout; /* seconds that a call of CUDA may take, which may be as long as a match: a
                              device that takes longer counts as failed, and is not used again; 0: no
                              limit */
    const char *costs; /* what tm_matcher_calibrate wrote of this machine, by which AUTO chooses then, or
                          NULL. Copied. Lines of other devices and versions are passed over, and what is
                          none. A wrong number makes a match slower, never different */
} tm_settings;

#define TM_ALL_DEVICES UINT64_MAX

/* Writes the defaults: LCC, VALID, AUTO, AUTO, device 0 alone, all threads, all
 * features, no limit of memory and time, strategy AUTO. size is sizeof(tm_settings) at the caller. */
TM_API void tm_settings_default(tm_settings *settings, size_t size);

/* A matcher holds devices, their memory and their plans, all kept across frames.
 * With several CUDA devices each takes rows of every frame, as many as it was found
 * to be quick. To give whole frames to devices instead, for many small frames, make
 * one matcher a device and use each from a thread of its own. */
typedef struct tm_matcher tm_matcher;

/* A template prepared for one matcher. */
typedef struct tm_template tm_template;

/* Makes a matcher. On failure *matcher is a handle that only
 * tm_matcher_message and tm_matcher_destroy accept, or NULL if memory ran out.
 * Errors: INVALID, MEMORY, NO_DEVICE, DEVICE, DEVICE_MEMORY. */
TM_API tm_status tm_matcher_create(tm_matcher **matcher, const tm_settings *settings);

/* Frees the matcher and sets *matcher to NULL; NULL is allowed. Templates made
 * with it keep what they need and are destroyed before or after it. */
TM_API void tm_matcher_destroy(tm_matcher **matcher);

/* The last failure on this matcher, with its particulars, or "". Valid until
 * the next call on the matcher. */
TM_API const char *tm_matcher_message(const tm_matcher *matcher);

/* Memory for frames and maps that CUDA devices copy from and to directly, at the
 * bus's full speed; plain memory where the matcher has no device open. */
typedef struct tm_host_memory {
    void *data;
    size_t size;
    int pinned; /* page-locked */
} tm_host_memory;

/* Allocates memory for use with this matcher, and with any other. The caller frees
 * it with tm_host_free, while the matcher exists. Memory that the caller registered
 * with CUDA by other means is as good. Error: MEMORY. */
TM_API tm_status tm_host_alloc(tm_matcher *matcher, size_t size, tm_host_memory *memory);

/* Frees the memory and makes *memory zero; zeros are allowed. */
TM_API void tm_host_free(tm_matcher *matcher, tm_host_memory *memory);

/* Prepares a template; samples and mask are copied. The caller owns *tmpl and
 * frees it with tm_template_destroy. Errors: INVALID, MEMORY, FLAT_TEMPLATE (for
 * LCC and CCOEFF, where every channel is constant over the pixels that count; for
 * all, where none counts), TEMPLATE_TOO_LARGE. */
TM_API tm_status tm_template_create(tm_template **tmpl, tm_matcher *matcher,
                                    const tm_image *image);

/* Frees the template and sets *tmpl to NULL; NULL is allowed. */
TM_API void tm_template_destroy(tm_template **tmpl);

/* Writes the template with its mean removed and scaled to Frobenius norm 1,
 * (T - mean) / ||T - mean||, row by row, w*h floats, each rounded once from
 * double. This is the form in which LCC = sum(F * That) / sqrt(S_FF - S_F^2/n).
 * Pixels that do not count are 0. Errors: FLAT_TEMPLATE; INVALID for more than one
 * channel. */
TM_API tm_status tm_template_normalized(const tm_template *tmpl, float *out);

/* One position and its score: a binary32 value or an integer, exact in a double;
 * an integer beyond 2^53, which only 16-bit templates of more than 2^21 samples
 * reach, is rounded to nearest. */
typedef struct tm_peak {
    int64_t x, y; /* the template's top-left corner in the frame; negative where
                     the domain lets the template hang over the edge */
    double score;
} tm_peak;

/* A score map in the caller's memory: int64_t where the metric's values are
 * integers, else float; of TM_SAMPLE_F32 pictures always float. */
typedef struct tm_map {
    void *data;
    ptrdiff_t stride; /* bytes from one row to the next: a multiple of the element, and at
                         least a row of the map */
} tm_map;

/* Bytes of one element of the metric's score map; 0 if there is no such metric. Of
 * TM_SAMPLE_F32 pictures it is sizeof(float), and what follows -FLT_MAX or FLT_MAX. */
TM_API size_t tm_map_element_size(tm_metric metric);

/* What the map holds where a position was skipped: the value of its type that is
 * worse than every score, -FLT_MAX or INT64_MIN; for distances FLT_MAX or
 * INT64_MAX. Writes one element. Error: INVALID. */
TM_API tm_status tm_map_skipped(tm_metric metric, void *element);

/* Size of the score map of a domain. Errors: INVALID, FRAME_TOO_SMALL. */
TM_API tm_status tm_map_size(tm_domain domain, int64_t frame_width, int64_t frame_height,
                             int64_t template_width, int64_t template_height,
                             int64_t *map_width, int64_t *map_height);

/* Scores every position of the domain; the frame has the template's type and
 * channels. *best is the best score; between equal ones the smallest y, then the
 * smallest x. map may be NULL: then no map
 * is made anywhere. On failure map's contents are unspecified. INVALID also where
 * the settings ask for TM_ALGORITHM_FFT or _CUFFT and it cannot run or be exact. What a CUDA
 * device fails to do, the others or the CPU do: see tm_matcher_warning.
 * Errors: INVALID, MEMORY, FRAME_TOO_SMALL, NO_DEVICE, DEVICE_MEMORY, DEVICE,
 * NO_POSITION. */
TM_API tm_status tm_match(tm_matcher *matcher, const tm_image *frame, const tm_template *tmpl,
                          tm_peak *best, const tm_map *map);

/* Matches several templates against one frame, with the results of as many
 * single calls: best[i], and the map maps[i] where maps is not NULL and
 * maps[i].data is not NULL, are tmpls[i]'s. A device gets the frame once, and
 * templates of one size share its reading. On failure best and the maps are
 * unspecified. Errors: those of tm_match; INVALID also where count is 0. */
TM_API tm_status tm_match_many(tm_matcher *matcher, const tm_image *frame,
                               const tm_template *const *tmpls, size_t count, tm_peak *best,
                               const tm_map *maps);

/* For tm_search.margin_ratio: a match that does not score enough by itself is doubtful, maybe chance, where
 * 1 - score > TM_MARGIN_RATIO * (1 - margin), as docs/choosing-a-threshold.md measures. */
#define TM_MARGIN_RATIO 0.6

/* Several matches in one map. A peak is a position that ranks before each of its up
 * to eight neighbours in the map, where the better score ranks first and between
 * equal ones the smaller y, then the smaller x. Peaks are taken in this order; one
 * whose box overlaps the box of a match that was taken before is left out. So the
 * matches do not depend on device, algorithm or threads, and the first is
 * tm_match's best. Fill with tm_search_default, change what you need. */
typedef struct tm_search {
    size_t size;      /* sizeof(tm_search) as the caller was compiled */
    int64_t most;     /* matches, the best ones; 0: all */
    double min_score; /* matches score that or better; NAN: all do */
    double overlap;   /* 0 to 1: boxes overlap whose intersection is more than that
                         part of their union */
    int64_t peaks;    /* peaks that are held at a time, the best ones, 16 to 80 bytes
                         each; at least 1 */
    int margin;       /* find the matches' margins too */
    int subpixel;     /* and where between the positions the peaks lie */
    double margin_ratio; /* above 0 and below 1, of templates in poses by TM_METRIC_LCC: the last match's
                            margin is wanted only where another place comes near, that is where
                            margin >= score - 0.1 or 1 - score > margin_ratio * (1 - margin), and margin
                            >= 0.3; if all are matches that score min_score, never: to find what is farther
                            takes most of the time. 0: it is wanted anyway */
    int only_matches;    /* of templates in poses: where nothing scores min_score, do not look for what scores
                            most, which takes most of the time on a CPU then; best's score is NAN */
} tm_search;

/* Writes the defaults: all matches, NAN, 0.3, 2^20 peaks, neither margins nor
 * sub-pixel places, and the best in any case. size is sizeof(tm_search) at the caller. */
TM_API void tm_search_default(tm_search *search, size_t size);

typedef struct tm_hit {
    tm_peak peak;
    double margin; /* score of the best peak that overlaps neither this match nor a
                      better one, whether it reaches min_score or not; NAN if there is
                      none, or margins were not asked for */
    double dx, dy; /* from the peak to the top of the quadratic surface fitted to the
                      3 x 3 scores around it, each at most 1/2; docs/peaks.md */
} tm_hit;

typedef struct tm_hits {
    tm_hit *items; /* the best first */
    size_t count;
    int cut_off; /* search.peaks was too few: there may be more matches, worse ones */
    tm_peak best; /* of all positions, whether it reaches min_score or not */
} tm_hits;

/* Finds the matches of each template; hits[i] is tmpls[i]'s, to be freed with
 * tm_hits_free. maps is as for tm_match_many; without it no map leaves a device or
 * is held on the CPU. On failure hits is empty and the maps are unspecified.
 * Errors: those of tm_match_many. */
TM_API tm_status tm_match_peaks(tm_matcher *matcher, const tm_image *frame,
                                const tm_template *const *tmpls, size_t count,
                                const tm_search *search, tm_hits *hits, const tm_map *maps);

/* Frees the items and empties hits; NULL is allowed. */
TM_API void tm_hits_free(tm_hits *hits);

/* A picture in the memory of a CUDA device. Zero all of it, set size, then the rest.
 *
 * Who waits for whom: the device reads the picture after everything that was launched on stream
 * before the call. tm_match_device, tm_match_device_peaks and tm_template_create_device return when
 * they have read it and all results are there. tm_match_device_async returns before; what is launched
 * on stream after the call then waits for it. Other streams are for the caller to order. */
typedef struct tm_device_image {
    size_t size;              /* sizeof(tm_device_image) as the caller was compiled */
    tm_image image;           /* samples and mask are addresses in the device's memory, or of managed
                                 memory. Both strides are any that leave samples aligned */
    ptrdiff_t pixel_stride;   /* bytes from one pixel of a row to the next; 0: they lie side by side */
    ptrdiff_t channel_stride; /* bytes from one channel of a pixel to the next, a plane's bytes where
                                 channels lie in planes; 0: a sample's size */
    int device;               /* which CUDA device, from 0: one of the matcher's */
    void *stream;             /* a cudaStream_t of that device; NULL: its default stream */
} tm_device_image;

/* Memory of a CUDA device of the matcher's, which counts to settings.device_memory, for those who have
 * none of their own. The caller frees it with tm_device_memory_free, which waits for the device, while
 * the matcher exists. Errors: INVALID, NO_DEVICE, DEVICE, DEVICE_MEMORY, MEMORY. */
TM_API tm_status tm_device_memory_alloc(tm_matcher *matcher, int device, size_t size, void **memory);

/* Frees the memory; NULL is allowed. */
TM_API void tm_device_memory_free(tm_matcher *matcher, int device, void *memory);

/* tm_template_create of a picture in a device's memory: it is copied to the host, which is waited
 * for, and summed there. Errors: those of tm_template_create and of tm_match_device. */
TM_API tm_status tm_template_create_device(tm_template **tmpl, tm_matcher *matcher,
                                           const tm_device_image *image);

/* tm_match_many of a frame in a device's memory, with the same results; the frame never comes to the
 * host. It is matched by the device that it lies on, and by no other: TM_DEVICE_AUTO opens it, and
 * what it fails to do is an error. Each map lies in the memory of that device or in the host's, which
 * the driver is asked. INVALID also where samples, mask or a map lie in the memory of another device,
 * samples or the mask in the host's, where the stream is another context's, or the matcher does not
 * use the device. Errors: those of tm_match_many. */
TM_API tm_status tm_match_device(tm_matcher *matcher, const tm_device_image *frame,
                                 const tm_template *const *tmpls, size_t count, tm_peak *best,
                                 const tm_map *maps);

/* The same without waiting for it: best, which may be NULL, and all maps are in the device's memory,
 * written in the order of frame->stream, and they and the frame are the call's until what is launched
 * there next begins. Where no position can be scored, or a sample is not finite, best[i] is -1, -1,
 * NAN and its map unspecified. Always exhaustive; all of the frame at once: DEVICE_MEMORY where there
 * is no room for that. The first calls of a size wait, for they allocate. What the device fails to do
 * later, a later call reports; tm_matcher_times and settings.device_timeout do not count what is not
 * waited for. Errors: those of tm_match_device but NO_POSITION. */
TM_API tm_status tm_match_device_async(tm_matcher *matcher, const tm_device_image *frame,
                                       const tm_template *const *tmpls, size_t count, tm_peak *best,
                                       const tm_map *maps);

/* A copy of a device's memory to the host that nobody waits for, for programs that do not link CUDA's runtime. */
typedef struct tm_device_read tm_device_read;

/* Lets the device copy size bytes of its memory, after everything that was launched on stream before the call: best matches
 * of tm_match_device_async, for example. They and the memory are the copy's until it is there. *read: NULL, and it is
 * made; or one of this matcher and device whose first copy was as large, and whose last copy is there. The caller frees
 * it while the matcher exists, also after an error. Errors: INVALID, NO_DEVICE, DEVICE, DEVICE_MEMORY, MEMORY. */
TM_API tm_status tm_device_read_start(tm_device_read **read, tm_matcher *matcher, int device, void *stream,
                                      const void *memory, size_t size);

/* Where the copy is, in *bytes, until read is started anew or freed; wait: once it is there, else NULL where it is not
 * yet. One thread may ask while another uses the matcher; settings.device_timeout does not count it. Errors:
 * INVALID where nothing was started, and DEVICE, of which tm_device_read_message says more. */
TM_API tm_status tm_device_read_bytes(tm_device_read *read, int wait, const void **bytes);
TM_API const char *tm_device_read_message(const tm_device_read *read);

/* Waits for a copy that is under way, and sets *read to NULL. */
TM_API void tm_device_read_free(tm_device_read **read);

/* tm_match_peaks of a frame in a device's memory, as tm_match_device. INVALID also where sub-pixel
 * places are asked for: they are found on the host. Errors: those of tm_match_device. */
TM_API tm_status tm_match_device_peaks(tm_matcher *matcher, const tm_device_image *frame,
                                       const tm_template *const *tmpls, size_t count,
                                       const tm_search *search, tm_hits *hits, const tm_map *maps);

/* A pose is a template turned and resized about its centre. docs/poses.md has the definition,
 * which is of integers alone. */

/* Which pixels of posed templates count: of those whose samples all lie in the template and in
 * its mask. */
typedef enum tm_support {
    TM_SUPPORT_AUTO = 0, /* DISC for turned templates of about one size where that leaves out few
                            pixels, else FULL */
    TM_SUPPORT_DISC = 1, /* those in the largest disc about the centre that all poses have */
    TM_SUPPORT_FULL = 2  /* all */
} tm_support;

/* Poses of all angles and scales from FROM to TO, which belongs to them where whole steps lead
 * there, without angles of a turn or more after FROM. All are rounded to millionths. */
typedef struct tm_pose_grid {
    size_t size; /* sizeof(tm_pose_grid) as the caller was compiled */
    double angle_from, angle_to; /* degrees, counter-clockwise as seen, from -3600 to 3600 */
    double angle_step;           /* no longer than the range, if that is more than one value; 0: chosen
                                    so that posed templates a step apart correlate by 0.98 or more */
    double scale_from, scale_to; /* from 0.05 to 20 */
    double scale_step;           /* likewise */
    tm_support support;
} tm_pose_grid;

/* Writes the defaults: angle 0, scale 1, AUTO. size is sizeof(tm_pose_grid) at the caller. */
TM_API void tm_pose_grid_default(tm_pose_grid *grid, size_t size);

/* What is wrong with a grid, as a clause for a message, or NULL. Static storage. */
TM_API const char *tm_pose_grid_fault(const tm_pose_grid *grid);

/* A template prepared for one matcher in all poses of a grid. */
typedef struct tm_posed_template tm_posed_template;

/* Prepares a template of 8 or 16 bits; samples and mask are copied. The caller owns *tmpl and
 * frees it with tm_posed_template_destroy. Poses that tm_template_create would call flat are left
 * out. Errors: INVALID, MEMORY, TEMPLATE_TOO_LARGE, FLAT_TEMPLATE where all are left out. */
TM_API tm_status tm_posed_template_create(tm_posed_template **tmpl, tm_matcher *matcher,
                                          const tm_image *image, const tm_pose_grid *grid);

/* Frees the template and sets *tmpl to NULL; NULL is allowed. */
TM_API void tm_posed_template_destroy(tm_posed_template **tmpl);

/* Writes the grid with the steps and the support as chosen; a step stays 0 where FROM is TO, or none
 * is short enough for a second pose. grid->size is set by the caller. Error: INVALID. */
TM_API tm_status tm_posed_template_grid(const tm_posed_template *tmpl, tm_pose_grid *grid);

/* The number of poses, with those that are left out: all angles of the first scale, then those of
 * the second, and so on. 0 for NULL. */
TM_API size_t tm_posed_template_count(const tm_posed_template *tmpl);

/* One pose, and its picture: the smallest about the centre that holds the pixels that count. */
typedef struct tm_pose {
    double angle, scale;
    int64_t width, height;
    int64_t pixels; /* that count; if it is 0, so are width and height */
    int left_out;
} tm_pose;

/* Errors: INVALID, MEMORY. */
TM_API tm_status tm_posed_template_pose(const tm_posed_template *tmpl, size_t index,
                                        tm_pose *pose);

/* Writes the picture of a pose, row after row: width * height pixels of the template's type and
 * channels, 0 where they do not count, and 1 or 0 for each to mask, which may be NULL. Errors:
 * INVALID, MEMORY. */
TM_API tm_status tm_posed_template_image(const tm_posed_template *tmpl, size_t index,
                                         void *samples, uint8_t *mask);

/* A match in a pose. Pixels' centres are at whole numbers, their edges half a pixel beside. */
typedef struct tm_posed_hit {
    double score;
    double angle, scale;
    double center_x, center_y; /* of the posed template in the frame */
    double corners[4][2];      /* x and y of what is top left, top right, bottom right and
                                  bottom left in the template */
    int64_t x, y, width, height; /* the least box of whole pixels that holds the corners */
    double margin;               /* as tm_hit's; with margin_ratio also NAN where no place comes near */
    double margin_below;         /* then what no other place scores, as has been proved; NAN else, and
                                    where so few peaks were held that it is not known */
    double fine_x, fine_y;       /* centre, angle and scale between positions and poses, by which the
                                    template fits the frame's pixels best, if asked for; else as above */
    double fine_angle, fine_scale;
    size_t pose;
} tm_posed_hit;

typedef struct tm_posed_hits {
    tm_posed_hit *items; /* the best first */
    size_t count;
    int cut_off;       /* as tm_hits' */
    tm_posed_hit best; /* of all poses and positions, whether it reaches min_score or not, but for
                          search.only_matches; its margin is NAN */
} tm_posed_hits;

/* Finds the matches of a template in all its poses, with the result of matching each posed
 * template alone. Peaks are those of each pose's map; the better score ranks first, and between
 * equal ones the centre's smaller y, then its smaller x, the smaller scale, the smaller angle.
 * Boxes that overlap are the template's, turned and resized. Poses whose pictures are wider or
 * higher than the frame are left out: FRAME_TOO_SMALL is where all are. hits is to be freed with
 * tm_posed_hits_free, and empty after a failure. Errors: those of tm_match. */
TM_API tm_status tm_match_posed(tm_matcher *matcher, const tm_image *frame,
                                const tm_posed_template *tmpl, const tm_search *search,
                                tm_posed_hits *hits);

/* Frees the items and empties hits; NULL is allowed. */
TM_API void tm_posed_hits_free(tm_posed_hits *hits);

/* Writes to a map of the frame's width and height, at each pixel, the best score of all poses and
 * positions whose centre is the pixel's, or half a pixel right of or below it; what
 * tm_map_skipped says where there is none. Always exhaustive: every pose makes a map of its own,
 * of which eight are in memory. Errors: those of tm_match_posed. */
TM_API tm_status tm_map_posed(tm_matcher *matcher, const tm_image *frame,
                              const tm_posed_template *tmpl, const tm_map *map);

/* A frame that comes by rows: 8-bit gray. */
typedef struct tm_row_source {
    int64_t width, height;
    /* Writes rows [first, first + count) to memory that has stride bytes from one to
     * the next. Every row is asked for once, from the top down, by one thread, which
     * is not the caller's. Returns 0, or anything else to end the match. */
    int (*read)(void *context, int64_t first, int64_t count, uint8_t *to, ptrdiff_t stride);
    void *context;
} tm_row_source;

/* A score map that goes by rows. */
typedef struct tm_row_sink {
    /* Takes rows [first, first + count), packed. Every row comes once, from the top
     * down, in the caller's thread. Returns 0, or anything else to end the match.
     * NULL: no map is made. */
    int (*write)(void *context, int64_t first, int64_t count, const void *rows);
    void *context;
} tm_row_sink;

/* Matches a frame that may be larger than memory, with the results of
 * tm_match_many: rows are read while those before them are matched, and no more of
 * them are held than settings.host_memory has room for. maps has a sink for each
 * template, or is NULL. Templates are 8-bit gray without a mask, the metric LCC or
 * CCORR. Rows that were written before a failure stay written.
 * Errors: those of tm_match; ROWS; MEMORY where the limit is too low for one row. */
TM_API tm_status tm_match_rows(tm_matcher *matcher, const tm_row_source *frame,
                               const tm_template *const *tmpls, size_t count, tm_peak *best,
                               const tm_row_sink *maps);

/* Rows [first, end) of the score map of a frame, for frames that several processes or machines match
 * together. Who has the rows of the frame that these need, and one map's row more on either side,
 * finds which positions may be among the frame's matches; the parts' positions put together are
 * enough to find what one call for the whole frame finds. docs/peaks.md has the proof. */
typedef struct tm_part {
    size_t size;          /* sizeof(tm_part) as the caller was compiled */
    int64_t frame_height; /* of the whole frame */
    int64_t frame_first;  /* which of its rows the picture begins with */
    int64_t first, end;   /* of the map: 0 <= first < end; end may lie behind the map's last row */
} tm_part;

/* A position that may be among the whole frame's matches. */
typedef struct tm_part_hit {
    tm_hit hit;   /* in the whole frame; margin is NAN */
    int64_t rank; /* the greater the better, of one metric: compares scores where doubles would round */
} tm_part_hit;

typedef struct tm_part_hits {
    size_t size;        /* sizeof(tm_part_hits); set by who fills it */
    tm_metric metric;
    int64_t template_width, template_height;
    int64_t map_height; /* of the whole map */
    int64_t first, end; /* rows of it that these are the positions of; end is at most map_height */
    tm_part_hit *items; /* the best first */
    size_t count;
    int cut_off;        /* search.peaks was too few: worse positions are missing */
    int has_best;       /* 0: the frame's mask leaves no position in these rows */
    tm_part_hit best;   /* of all positions of these rows */
} tm_part_hits;

/* Which rows of the frame, [*first, *end), a picture has to have for rows [part->first, part->end)
 * of the map of a template of that height; part->frame_first is not looked at. Errors: INVALID, also
 * where part->first is behind the map's last row; FRAME_TOO_SMALL. */
TM_API tm_status tm_part_rows(tm_domain domain, int64_t template_height, const tm_part *part,
                              int64_t *first, int64_t *end);

/* Finds the positions of a part for each template; hits[i] is tmpls[i]'s, to be freed with
 * tm_part_hits_free, and empty after a failure. rows has the frame's rows from part->frame_first on,
 * at least those that tm_part_rows says. Errors: those of tm_match_peaks but NO_POSITION; INVALID
 * also for TM_SAMPLE_F32, whose scores are not the same bits in every part. */
TM_API tm_status tm_match_part(tm_matcher *matcher, const tm_image *rows, const tm_part *part,
                               const tm_template *const *tmpls, size_t count,
                               const tm_search *search, tm_part_hits *hits);

/* Frees the items and empties hits; NULL is allowed. */
TM_API void tm_part_hits_free(tm_part_hits *hits);

/* Finds the matches of a template by the parts' positions, in any order of the parts, with the result
 * of tm_match_peaks. search is that of the parts. whole: the parts have to have every row of the map
 * once; else no row twice, and what comes out is what the rows that are there have by themselves.
 * Where a part was cut off, matches worse than its worst position are not reported. hits is to be
 * freed with tm_hits_free, and empty after a failure. Errors: INVALID, also for parts that are not
 * of one map; MEMORY; NO_POSITION. */
TM_API tm_status tm_merge_parts(const tm_part_hits *const *parts, size_t count,
                                const tm_search *search, int whole, tm_hits *hits);

/* Milliseconds of the last successful match. The first three are 0 on the CPU
 * except kernel, which is then the whole match. On CUDA copies and kernels overlap:
 * to_device lasts until the frame was there, for the last template where some need it
 * placed anew, kernel and from_device are what was then left of each. Of several
 * devices, the one that took longest. */
typedef struct tm_times {
    double to_device;
    double kernel;
    double from_device;
    double total;
} tm_times;

TM_API tm_times tm_matcher_times(const tm_matcher *matcher);

/* What happened in the last successful match that the caller should know, such as
 * the failure of a device whose rows others took; "" if nothing. Valid until the
 * next call on the matcher. */
TM_API const char *tm_matcher_warning(const tm_matcher *matcher);

/* How many of its devices did not answer within settings.device_timeout, so far. Such a device's work
 * has gone to the others or the CPU, as a warning says; what the driver may still use is never freed.
 * In a process with one, other calls of CUDA may wait for it, also those at the process's end: _exit
 * makes none. A map that was handed over in page-locked memory may still be written to, and what lies in
 * the device's memory read and written: neither is to be freed. */
TM_API int tm_matcher_hung(const tm_matcher *matcher);

/* One CUDA device's part in the last successful match. */
typedef struct tm_device_report {
    int index;
    int64_t rows;     /* of score maps, all templates' together; made again for more
                         peaks, they count again */
    double start_ms;  /* when it began, after the first of them */
    double busy_ms;   /* from then until it had done its part */
    double wait_ms;   /* from then until all had; by rows, or again for more peaks,
                         these two are sums */
    int64_t bytes_to_device, bytes_from_device;
} tm_device_report;

/* Writes up to capacity reports, in the order of the devices, of those that took
 * part; returns their number, which may exceed capacity and is 0 on the CPU. */
TM_API size_t tm_matcher_reports(const tm_matcher *matcher, tm_device_report *reports,
                                 size_t capacity);

/* What the last successful tm_match ran on: "cpu", "cuda:0", "cuda:0,2"; "direct",
 * "fft", "reference"; and a sentence that says what was chosen and why. "" before the
 * first match. Valid until the next call on the matcher. */
TM_API const char *tm_matcher_device(const tm_matcher *matcher);
TM_API const char *tm_matcher_algorithm(const tm_matcher *matcher);
TM_API const char *tm_matcher_plan(const tm_matcher *matcher);

/* The strategy of the last successful match, "exhaustive", "pyramid" or "certified", the last where any
 * of its templates was searched so; "" before the first. Static storage. */
TM_API const char *tm_matcher_strategy(const tm_matcher *matcher);

/* How many exact scores the last successful match made, as a share of its windows, of all templates together: one
 * that was scored in two passes, as where more matches were wanted than the first one found, counts twice. At most 1,
 * which it is where the strategy was exhaustive; 0 before the first. */
TM_API double tm_matcher_scored(const tm_matcher *matcher);

typedef struct tm_device_info {
    tm_device_kind kind;
    int index;
    int units;             /* CPU threads, or multiprocessors */
    int64_t memory_bytes;  /* of the device; 0 for the CPU */
    char name[128];        /* processor or GPU name */
    char detail[128];      /* instruction sets, or compute capability and versions */
} tm_device_info;

/* Writes up to capacity devices, the CPU first, and their number to *count,
 * which may exceed capacity. Where CUDA has none, why (why_size bytes, may be
 * NULL) gets the reason in a sentence, else "". Errors: INVALID. */
TM_API tm_status tm_list_devices(tm_device_info *devices, size_t capacity, size_t *count,
                                 char *why, size_t why_size);

/* Measures what the algorithms cost on the devices of the matcher's settings, AUTO: on the CPU and all CUDA
 * devices, for about half a second each, while nothing else should run there. Writes lines for
 * tm_settings.costs to text, of size bytes; 1024 for each device are enough. Lines of several calls, and
 * of several machines, can be put together: of one device the last one counts, and it counts for all
 * devices with its name and driver. Errors: INVALID where size is too small, DEVICE also where a GPU took so
 * long that others must have kept it busy, and those of a match. */
TM_API tm_status tm_matcher_calibrate(tm_matcher *matcher, char *text, size_t size);

/* 1 where costs, which may be NULL, have a line for such a device, as tm_list_devices describes it, else 0. */
TM_API int tm_costs_have(const char *costs, const tm_device_info *device);

/* Writes the path of the CUDA backend's file, libtmatch-cuda.so, which a matcher would open, whether or
 * not there are devices for it; "" where it is not installed. */
TM_API void tm_cuda_backend_path(char *path, size_t size);

#ifdef __cplusplus
}
#endif

#endif
