/* SPDX-License-Identifier: MIT */
#include "buffers.h"

#include <stddef.h>

static void give_back(void *memory, uint8_t *data)
{
    io_memory *m = memory;
    m->give_back(m, data);
}

/* Others are not matched where they are. */
static bool has_own_luma(const io_libav *av, const AVFrame *frame)
{
    const AVPixFmtDescriptor *layout = av->av_pix_fmt_desc_get(frame->format);
    return layout && !(layout->flags & AV_PIX_FMT_FLAG_RGB) && layout->comp[0].depth == 8 && frame->buf[0] && frame->buf[1];
}

/* The codec's own buffers, which it chooses by what it needs, but for luma's. Called by all of its threads. */
static int get_buffer(AVCodecContext *codec, AVFrame *frame, int flags)
{
    const io_movie *m = (const io_movie *)(const void *)((const char *)codec->opaque - offsetof(io_movie, log));
    const io_libav *av = m->libav;
    io_memory *memory = m->settings.memory;
    const int status = av->avcodec_default_get_buffer2(codec, frame, flags);

    if (status < 0 || !has_own_luma(av, frame))
        return status;
    AVBufferRef *usual = frame->buf[0];
    uint8_t *data = memory->take(memory, usual->size);
    AVBufferRef *own = data ? av->av_buffer_create(data, usual->size, give_back, memory, 0) : NULL;
    if (!own) {
        if (data)
            memory->give_back(memory, data);
        return status;
    }
    frame->buf[0] = own;
    frame->data[0] = own->data + (frame->data[0] - usual->data);
    av->av_buffer_unref(&usual);
    return status;
}

void movie_place_luma(io_movie *m, const AVCodec *codec)
{
    if (!m->settings.memory || m->settings.nvdec || !(codec->capabilities & AV_CODEC_CAP_DR1))
        return;
    m->codec->get_buffer2 = get_buffer;
#if LIBAVCODEC_VERSION_MAJOR < 60
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    m->codec->thread_safe_callbacks = 1; /* later always */
#pragma GCC diagnostic pop
#endif
}
