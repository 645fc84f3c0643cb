/* SPDX-License-Identifier: MIT */
#include "device.h"

#include <libavutil/hwcontext.h>
#include <stddef.h>
#include <stdlib.h>

#include "frame.h"
#include "io/nvidia/memory.h"

enum { PITCH = 256, PLANES = 2 };

/* AVCUDADeviceContext, whose header wants CUDA's. */
typedef struct cuda_device {
    void *context, *stream, *internal;
} cuda_device;

/* What the codec decoded, in memory of ours: libavcodec has few frames on the device, and they are its own again. */
typedef struct device_frame {
    io_frame base;
    const io_libav *libav;
    io_device_memory *memory;
    uint8_t *data; /* luma, then chroma, in rows of pitch bytes */
    size_t pitch;
    AVFrame *kind; /* without samples: what the host would decode to */
    int orientation;
} device_frame;

static int bytes_of(const AVFrame *f)
{
    return f->format == AV_PIX_FMT_NV12 ? 1 : 2;
}

static size_t rows_of(const AVFrame *f, int plane)
{
    return (size_t)(plane ? (f->height + 1) / 2 : f->height);
}

static size_t width_of(const AVFrame *f, int plane)
{
    return (size_t)((plane ? (f->width + 1) / 2 * 2 : f->width) * bytes_of(f));
}

static uint8_t *plane_of(const device_frame *f, int plane)
{
    return f->data + (plane ? f->pitch * rows_of(f->kind, 0) : 0);
}

/* The only place where the codec says that NVDEC does not decode the movie. */
static enum AVPixelFormat choose_format(AVCodecContext *codec, const enum AVPixelFormat *formats)
{
    io_movie *m = (io_movie *)(void *)((char *)codec->opaque - offsetof(io_movie, log));
    for (; *formats != AV_PIX_FMT_NONE; formats++)
        if (*formats == AV_PIX_FMT_CUDA)
            return *formats;
    const AVPixFmtDescriptor *layout = m->libav->av_pix_fmt_desc_get(codec->sw_pix_fmt);
    pthread_mutex_lock(&m->log.lock);
    if (*m->log.first)
        io_fail(&m->input.error, "NVDEC does not decode it: %.150s", m->log.first);
    else
        io_fail(&m->input.error, "NVDEC does not decode it: %s, %s", m->libav->avcodec_get_name(codec->codec_id),
                layout ? layout->name : "of an unknown layout");
    pthread_mutex_unlock(&m->log.lock);
    m->refused = true;
    return AV_PIX_FMT_NONE;
}

bool movie_device_open(io_movie *m, io_error *error)
{
    const io_libav *av = m->libav;

    if (!io_device_memory_open(&m->memory, m->settings.device, error))
        return false;
    AVBufferRef *device = av->av_hwdevice_ctx_alloc(AV_HWDEVICE_TYPE_CUDA);
    if (!device)
        return io_fail(error, "NVDEC: the libavutil that is installed has no CUDA");
    cuda_device *own = ((AVHWDeviceContext *)device->data)->hwctx;
    own->context = io_device_memory_context(m->memory);
    m->codec->hw_device_ctx = device;
    const int status = av->av_hwdevice_ctx_init(device);
    if (status < 0) {
        char text[128];
        av->av_strerror(status, text, sizeof text);
        return io_fail(error, "NVDEC: libavutil cannot use the CUDA driver: %s", text);
    }
    m->codec->get_format = choose_format;
    m->codec->thread_count = 1; /* each would hold frames of the device, and none would decode */
    m->codec->extra_hw_frames = 2;
    return true;
}

void movie_device_close(io_movie *m)
{
    io_device_memory_close(&m->memory);
}

static void free_frame(io_frame *frame)
{
    device_frame *f = (device_frame *)frame;
    io_device_memory *memory = f->memory;
    f->libav->av_frame_free(&f->kind);
    io_device_memory_give_back(memory, f->data);
    free(f);
}

static int orientation(const io_source *source)
{
    return ((const device_frame *)source->frame)->orientation;
}

/* Brings the samples to the host, and decodes them as a frame of the host's. */
static bool decode(const io_source *source, const io_request *request, const io_limits *limits, io_picture *picture,
                   io_error *error)
{
    const device_frame *f = (const device_frame *)source->frame;
    const io_libav *av = f->libav;
    AVFrame *host = av->av_frame_alloc();
    io_source there = {0};
    io_device_copy copies[PLANES];

    if (!host)
        return io_fail(error, "not enough memory");
    host->format = f->kind->format;
    host->width = f->kind->width;
    host->height = f->kind->height;
    host->color_range = f->kind->color_range;
    host->colorspace = f->kind->colorspace;
    bool good = av->av_frame_get_buffer(host, 0) >= 0 || io_fail(error, "not enough memory");
    for (int i = 0; i < PLANES && good; i++)
        copies[i] = (io_device_copy){.to = host->data[i], .to_pitch = (size_t)host->linesize[i], .from = plane_of(f, i),
                                     .from_pitch = f->pitch, .width = width_of(f->kind, i),
                                     .height = rows_of(f->kind, i), .to_host = true};
    good = good && io_device_memory_copy(f->memory, copies, PLANES, error) &&
           (io_movie_keep(&there, av, host, f->orientation) || io_fail(error, "not enough memory"));
    good = good && there.frame->format->decode(&there, request, limits, picture, error);
    if (there.frame)
        io_source_close(&there);
    av->av_frame_free(&host);
    return good;
}

static bool rows_open(io_rows *rows, const io_limits *limits, io_error *error)
{
    const device_frame *f = (const device_frame *)rows->source->frame;
    rows->width = f->kind->width;
    rows->height = f->kind->height;
    rows->colored = true;
    rows->deep = bytes_of(f->kind) > 1;
    rows->whole = "a movie's frame";
    return io_check_size(rows->width, rows->height, limits, error);
}

static const io_format format = {.name = "movie", .orientation = orientation, .decode = decode, .rows_open = rows_open};

/* The decoder's own samples, without what the movie says is cut off. */
static io_device_copy copy_of(const device_frame *f, const AVFrame *decoded, int plane)
{
    const size_t top = decoded->crop_top >> plane, left = (decoded->crop_left >> plane << plane) * (size_t)bytes_of(f->kind);
    return (io_device_copy){.to = plane_of(f, plane), .to_pitch = f->pitch,
                            .from = decoded->data[plane] + top * (size_t)decoded->linesize[plane] + left,
                            .from_pitch = (size_t)decoded->linesize[plane], .width = width_of(f->kind, plane),
                            .height = rows_of(f->kind, plane)};
}

static bool fill(device_frame *f, const AVFrame *decoded, io_error *error)
{
    io_device_copy copies[PLANES];
    for (int i = 0; i < PLANES; i++)
        copies[i] = copy_of(f, decoded, i);
    return io_device_memory_copy(f->memory, copies, PLANES, error);
}

bool movie_device_keep(io_source *source, const io_movie *m, io_error *error)
{
    const AVFrame *decoded = m->frame;
    const AVHWFramesContext *context = (const AVHWFramesContext *)(void *)decoded->hw_frames_ctx->data;
    device_frame *f = calloc(1, sizeof *f);

    if (!f || !(f->kind = m->libav->av_frame_alloc())) {
        free(f);
        return io_fail(error, "not enough memory");
    }
    f->base = (io_frame){&format, free_frame};
    f->libav = m->libav;
    f->memory = m->memory;
    f->orientation = m->orientation;
    f->kind->format = context->sw_format;
    f->kind->width = decoded->width;
    f->kind->height = decoded->height;
    f->kind->color_range = decoded->color_range;
    f->kind->colorspace = decoded->colorspace;
    f->pitch = (width_of(f->kind, 1) + PITCH - 1) / PITCH * PITCH;
    const size_t size = f->pitch * (rows_of(f->kind, 0) + rows_of(f->kind, 1));
    const bool known = context->sw_format == AV_PIX_FMT_NV12 || context->sw_format == AV_PIX_FMT_P010 ||
                       context->sw_format == AV_PIX_FMT_P016;
    const AVPixFmtDescriptor *layout = m->libav->av_pix_fmt_desc_get(context->sw_format);
    f->data = known ? io_device_memory_take(m->memory, size, error) : NULL;
    if (!known)
        io_fail(error, "NVDEC's samples, %s, are not read", layout ? layout->name : "of an unknown layout");
    if (f->data && fill(f, decoded, error)) {
        *source = (io_source){.frame = &f->base, .size = size};
        return true;
    }
    if (f->data)
        io_device_memory_give_back(m->memory, f->data);
    m->libav->av_frame_free(&f->kind);
    free(f);
    return false;
}

bool io_movie_on_device(const io_source *source, io_luma *luma)
{
    const device_frame *f = (const device_frame *)source->frame;
    if (!source->frame || source->frame->format != &format)
        return false;
    *luma = (io_luma){.memory = f->data, .pitch = (int64_t)f->pitch, .width = f->kind->width, .height = f->kind->height,
                      .bits = 8 * bytes_of(f->kind), .orientation = f->orientation, .colored = true,
                      .device = io_device_memory_device(f->memory)};
    return true;
}
