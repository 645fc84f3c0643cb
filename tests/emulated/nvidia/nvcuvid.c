/* SPDX-License-Identifier: MIT */
/* As much of NVDEC as libavcodec uses, for Motion-JPEG in 4:2:0, by libjpeg. A decoder has few surfaces, as a GPU's has:
 * one that is decoded to anew while it is mapped ends the program. */
#include <dlfcn.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

#define EXPORT __attribute__((visibility("default")))

enum { SUCCESS, INVALID = 1, NOT_SUPPORTED = 801 };
enum { JPEG = 5, CHROMA_420 = 1, PITCH = 64, HOST_TO_DEVICE = 1, BLOCK = 8, MOST_SURFACES = 64 };

/* CUVIDDECODECAPS */
typedef struct caps {
    int codec, chroma;
    unsigned depth_minus_8, reserved[3];
    unsigned char supported, engines;
    unsigned short formats;
    unsigned width, height, blocks;
    unsigned short least_width, least_height;
} caps;

/* CUVIDDECODECREATEINFO, and CUVIDPICPARAMS, as far as they are used. */
typedef struct create_info {
    unsigned long width, height, surfaces;
    int codec, chroma;
} create_info;

typedef struct picture {
    int blocks_wide, blocks_high, index, field, bottom_field, second_field;
    unsigned size;
    const unsigned char *data;
} picture;

typedef struct decoder {
    size_t width, height, pitch;
    int surfaces;
    void *memory[MOST_SURFACES];
    int mapped[MOST_SURFACES];
} decoder;

typedef struct reader {
    struct jpeg_error_mgr manager; /* first */
    jmp_buf escape;
    struct jpeg_decompress_struct codec;
    unsigned char *planes[3];
} reader;

static void *find(const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/libtmatch-cuda.so", getenv("TMATCH_PLUGIN_DIR"));
    return dlsym(dlopen(path, RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD), name);
}

static void on_error(j_common_ptr codec)
{
    longjmp(((reader *)codec->err)->escape, 1);
}

EXPORT int cuvidGetDecoderCaps(caps *c)
{
    c->supported = c->codec == JPEG && c->chroma == CHROMA_420 && !getenv("FAKE_NVDEC_REFUSES");
    c->engines = 1;
    c->formats = 1;
    c->width = c->height = 4096;
    c->blocks = 65536;
    return SUCCESS;
}

EXPORT int cuvidCreateDecoder(decoder **made, const create_info *info)
{
    int (*allocate)(void **, size_t);
    decoder *d = calloc(1, sizeof *d);

    *(void **)&allocate = find("em_cudaMalloc");
    d->width = info->width;
    d->height = info->height;
    d->pitch = (d->width + PITCH - 1) / PITCH * PITCH;
    d->surfaces = (int)info->surfaces;
    for (int i = 0; i < d->surfaces; i++)
        allocate(&d->memory[i], d->pitch * (d->height + (d->height + 1) / 2));
    *made = d;
    return SUCCESS;
}

EXPORT int cuvidDestroyDecoder(decoder *d)
{
    int (*release)(void *);
    *(void **)&release = find("em_cudaFree");
    for (int i = 0; i < d->surfaces; i++)
        release(d->memory[i]);
    free(d);
    return SUCCESS;
}

static size_t whole_blocks(unsigned samples)
{
    return (samples + 2 * BLOCK - 1) / (2 * BLOCK) * (2 * BLOCK);
}

/* Rows of whole blocks, as the file has them. */
static void read_planes(reader *r)
{
    struct jpeg_decompress_struct *c = &r->codec;
    c->raw_data_out = TRUE;
    c->do_fancy_upsampling = FALSE;
    jpeg_start_decompress(c);
    const size_t width = whole_blocks(c->output_width), height = whole_blocks(c->output_height);
    for (int i = 0; i < 3; i++)
        r->planes[i] = malloc(width * height);
    while (c->output_scanline < c->output_height) {
        JSAMPROW rows[3][2 * BLOCK];
        JSAMPARRAY planes[3] = {rows[0], rows[1], rows[2]};
        for (int i = 0; i < 3; i++)
            for (size_t y = 0; y < 2 * BLOCK; y++)
                rows[i][y] = r->planes[i] + (i ? c->output_scanline / 2 + y % BLOCK : c->output_scanline + y) * (i ? width / 2 : width);
        jpeg_read_raw_data(c, planes, 2 * BLOCK);
    }
}

static void put_planes(const reader *r, const decoder *d, char *to)
{
    int (*copy)(void *, const void *, size_t, int, void *);
    const size_t stride = whole_blocks(r->codec.output_width);
    unsigned char *both = malloc(stride);

    *(void **)&copy = find("em_cudaMemcpyAsync");
    for (size_t y = 0; y < d->height; y++)
        copy(to + y * d->pitch, r->planes[0] + y * stride, d->width, HOST_TO_DEVICE, NULL);
    for (size_t y = 0; y < (d->height + 1) / 2; y++) {
        for (size_t x = 0; x < stride; x++)
            both[x] = r->planes[1 + x % 2][y * (stride / 2) + x / 2];
        copy(to + (d->height + y) * d->pitch, both, (d->width + 1) / 2 * 2, HOST_TO_DEVICE, NULL);
    }
    free(both);
}

EXPORT int cuvidDecodePicture(decoder *d, const picture *p)
{
    reader r = {.codec.err = NULL};
    unsigned char *file = malloc(p->size + 2); /* the data begin behind the first marker */
    file[0] = 0xff;
    file[1] = 0xd8;
    memcpy(file + 2, p->data, p->size);
    if (p->index < 0 || p->index >= d->surfaces || d->mapped[p->index]) {
        fprintf(stderr, "fake NVDEC: a surface that is not free\n");
        abort();
    }
    r.codec.err = jpeg_std_error(&r.manager);
    r.manager.error_exit = on_error;
    const int failed = setjmp(r.escape);
    if (!failed) {
        jpeg_create_decompress(&r.codec);
        jpeg_mem_src(&r.codec, file, p->size + 2);
        jpeg_read_header(&r.codec, TRUE);
        if (whole_blocks(r.codec.image_width) < d->width || whole_blocks(r.codec.image_height) < d->height ||
            r.codec.comp_info[0].v_samp_factor != 2)
            on_error((j_common_ptr)&r.codec);
        read_planes(&r);
        put_planes(&r, d, d->memory[p->index]);
    }
    for (int i = 0; i < 3; i++)
        free(r.planes[i]);
    jpeg_destroy_decompress(&r.codec);
    free(file);
    return failed ? INVALID : SUCCESS;
}

EXPORT int cuvidMapVideoFrame64(decoder *d, int index, unsigned long long *memory, unsigned *pitch, const void *how)
{
    (void)how;
    d->mapped[index]++;
    *memory = (size_t)d->memory[index];
    *pitch = (unsigned)d->pitch;
    return SUCCESS;
}

EXPORT int cuvidUnmapVideoFrame64(decoder *d, unsigned long long memory)
{
    for (int i = 0; i < d->surfaces; i++)
        if ((size_t)d->memory[i] == memory)
            d->mapped[i]--;
    return SUCCESS;
}

#define NAMES(NAME) \
    NAME(cuvidGetDecodeStatus) NAME(cuvidReconfigureDecoder) NAME(cuvidCtxLockCreate) NAME(cuvidCtxLockDestroy) \
    NAME(cuvidCtxLock) NAME(cuvidCtxUnlock) NAME(cuvidCreateVideoSource) NAME(cuvidCreateVideoSourceW) \
    NAME(cuvidDestroyVideoSource) NAME(cuvidSetVideoSourceState) NAME(cuvidGetVideoSourceState) \
    NAME(cuvidGetSourceVideoFormat) NAME(cuvidGetSourceAudioFormat) NAME(cuvidCreateVideoParser) \
    NAME(cuvidParseVideoData) NAME(cuvidDestroyVideoParser)

#define DECLINE(name) EXPORT int name(void) { return NOT_SUPPORTED; }
NAMES(DECLINE)
