/* SPDX-License-Identifier: MIT */
/* As much of nvJPEG as the program uses, by libjpeg: samples reach the device's memory in the stream's order. */
#include <dlfcn.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

#define EXPORT __attribute__((visibility("default")))

enum { SUCCESS, BAD_JPEG = 3, NOT_SUPPORTED = 4, EXECUTION_FAILED = 6, ARCH_MISMATCH = 7 };
enum { HARDWARE = 3, LUMA = 2, HOST_TO_DEVICE = 1 };

typedef struct nvjpeg_image {
    unsigned char *channel[4];
    size_t pitch[4];
} nvjpeg_image;

typedef struct fake_state {
    int batch;
} fake_state;

typedef struct fake_header {
    int progressive;
} fake_header;

typedef struct reader {
    struct jpeg_error_mgr manager; /* first */
    jmp_buf escape;
    struct jpeg_decompress_struct codec;
    unsigned char *samples;
} reader;

/* "hardware" among FAKE_NVJPEG's words, for example. */
static int is_told(const char *word)
{
    const char *words = getenv("FAKE_NVJPEG");
    return words && strstr(words, word);
}

static void on_error(j_common_ptr codec)
{
    longjmp(((reader *)codec->err)->escape, 1);
}

static void on_message(j_common_ptr codec, int level)
{
    if (level < 0)
        on_error(codec);
}

static void begin(reader *r, const unsigned char *data, size_t size)
{
    r->codec.err = jpeg_std_error(&r->manager);
    r->manager.error_exit = on_error;
    r->manager.emit_message = on_message;
    jpeg_create_decompress(&r->codec);
    jpeg_mem_src(&r->codec, data, size);
    jpeg_read_header(&r->codec, TRUE);
}

static int (*find_copy(void))(void *, const void *, size_t, int, void *)
{
    char path[4096];
    int (*copy)(void *, const void *, size_t, int, void *);
    snprintf(path, sizeof path, "%s/libtmatch-cuda.so", getenv("TMATCH_PLUGIN_DIR"));
    *(void **)&copy = dlsym(dlopen(path, RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD), "em_cudaMemcpyAsync");
    return copy;
}

static int decode(const unsigned char *data, size_t size, const nvjpeg_image *image, void *stream)
{
    reader r = {0};
    int (*copy)(void *, const void *, size_t, int, void *) = find_copy();

    if (setjmp(r.escape)) {
        jpeg_destroy_decompress(&r.codec);
        free(r.samples);
        return BAD_JPEG;
    }
    begin(&r, data, size);
    r.codec.out_color_space = JCS_GRAYSCALE;
    jpeg_start_decompress(&r.codec);
    const size_t width = r.codec.output_width;
    r.samples = malloc(width);
    for (size_t y = 0; y < r.codec.output_height; y++) {
        jpeg_read_scanlines(&r.codec, &r.samples, 1);
        for (size_t x = 0; x < width && is_told("rounding"); x += 8)
            r.samples[x] ^= 1;
        copy(image->channel[0] + y * image->pitch[0], r.samples, width, HOST_TO_DEVICE, stream);
    }
    jpeg_finish_decompress(&r.codec);
    jpeg_destroy_decompress(&r.codec);
    free(r.samples);
    return SUCCESS;
}

EXPORT int nvjpegGetProperty(int which, int *value)
{
    *value = which + 1;
    return SUCCESS;
}

EXPORT int nvjpegCreateEx(int backend, void *device_memory, void *host_memory, unsigned flags, void **handle)
{
    (void)device_memory, (void)host_memory, (void)flags;
    if (is_told("nothing"))
        return EXECUTION_FAILED;
    if (backend == HARDWARE && is_told("no hardware"))
        return ARCH_MISMATCH;
    *handle = malloc(1);
    return SUCCESS;
}

EXPORT int nvjpegDestroy(void *handle)
{
    free(handle);
    return SUCCESS;
}

EXPORT int nvjpegJpegStateCreate(void *handle, void **state)
{
    (void)handle;
    *state = calloc(1, sizeof(fake_state));
    return SUCCESS;
}

EXPORT int nvjpegJpegStateDestroy(void *state)
{
    free(state);
    return SUCCESS;
}

EXPORT int nvjpegJpegStreamCreate(void *handle, void **header)
{
    (void)handle;
    *header = calloc(1, sizeof(fake_header));
    return SUCCESS;
}

EXPORT int nvjpegJpegStreamDestroy(void *header)
{
    free(header);
    return SUCCESS;
}

EXPORT int nvjpegJpegStreamParseHeader(void *handle, const unsigned char *data, size_t size, void *header)
{
    reader r = {0};
    const int failed = setjmp(r.escape);

    (void)handle;
    if (!failed) {
        begin(&r, data, size);
        ((fake_header *)header)->progressive = r.codec.progressive_mode;
    }
    jpeg_destroy_decompress(&r.codec);
    return failed ? BAD_JPEG : SUCCESS;
}

EXPORT int nvjpegDecodeBatchedSupported(void *handle, const void *header, int *refused)
{
    (void)handle;
    *refused = ((const fake_header *)header)->progressive;
    return SUCCESS;
}

EXPORT int nvjpegDecodeBatchedInitialize(void *handle, void *state, int count, int threads, int format)
{
    (void)handle, (void)threads;
    ((fake_state *)state)->batch = count;
    return format == LUMA ? SUCCESS : NOT_SUPPORTED;
}

EXPORT int nvjpegDecodeBatched(void *handle, const void *state, const unsigned char *const *data, const size_t *sizes,
                               nvjpeg_image *images, void *stream)
{
    int status = SUCCESS;
    (void)handle;
    for (int i = 0; i < ((const fake_state *)state)->batch && status == SUCCESS; i++)
        status = decode(data[i], sizes[i], &images[i], stream);
    return status;
}

EXPORT int nvjpegDecode(void *handle, void *state, const unsigned char *data, size_t size, int format,
                        nvjpeg_image *image, void *stream)
{
    (void)handle, (void)state;
    return format != LUMA || is_told("refuses") ? NOT_SUPPORTED : decode(data, size, image, stream);
}
