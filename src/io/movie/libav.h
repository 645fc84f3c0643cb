/* SPDX-License-Identifier: MIT */
/* FFmpeg's libraries, opened when the first movie is met: they bring more than a hundred others, which
 * would take longer to load than most pictures take to match. */
#ifndef TMATCH_IO_LIBAV_H
#define TMATCH_IO_LIBAV_H

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <pthread.h>
#include <libavutil/display.h>
#include <libavutil/hwcontext.h>
#include <libavutil/pixdesc.h>

#include "io/format.h"

/* FUNCTION(library, name): what is used of them. */
#define IO_EACH_LIBAV_FUNCTION(FUNCTION) \
    FUNCTION(avutil, av_buffer_create) \
    FUNCTION(avutil, av_buffer_unref) \
    FUNCTION(avutil, av_dict_free) \
    FUNCTION(avutil, av_dict_set) \
    FUNCTION(avutil, av_frame_alloc) \
    FUNCTION(avutil, av_frame_free) \
    FUNCTION(avutil, av_frame_get_buffer) \
    FUNCTION(avutil, av_frame_move_ref) \
    FUNCTION(avutil, av_frame_ref) \
    FUNCTION(avutil, av_frame_unref) \
    FUNCTION(avutil, av_freep) \
    FUNCTION(avutil, av_hwdevice_ctx_alloc) \
    FUNCTION(avutil, av_hwdevice_ctx_init) \
    FUNCTION(avutil, av_log_format_line2) \
    FUNCTION(avutil, av_log_set_callback) \
    FUNCTION(avutil, av_malloc) \
    FUNCTION(avutil, av_max_alloc) \
    FUNCTION(avutil, av_pix_fmt_desc_get) \
    FUNCTION(avutil, av_read_image_line2) \
    FUNCTION(avutil, av_strdup) \
    FUNCTION(avutil, av_strerror) \
    FUNCTION(avcodec, av_packet_alloc) \
    FUNCTION(avcodec, av_packet_free) \
    FUNCTION(avcodec, av_packet_rescale_ts) \
    FUNCTION(avcodec, av_packet_unref) \
    FUNCTION(avcodec, avcodec_alloc_context3) \
    FUNCTION(avcodec, avcodec_default_get_buffer2) \
    FUNCTION(avcodec, avcodec_find_decoder) \
    FUNCTION(avcodec, avcodec_find_encoder_by_name) \
    FUNCTION(avcodec, avcodec_flush_buffers) \
    FUNCTION(avcodec, avcodec_free_context) \
    FUNCTION(avcodec, avcodec_get_name) \
    FUNCTION(avcodec, avcodec_open2) \
    FUNCTION(avcodec, avcodec_parameters_copy) \
    FUNCTION(avcodec, avcodec_parameters_from_context) \
    FUNCTION(avcodec, avcodec_parameters_to_context) \
    FUNCTION(avcodec, avcodec_receive_frame) \
    FUNCTION(avcodec, avcodec_receive_packet) \
    FUNCTION(avcodec, avcodec_send_frame) \
    FUNCTION(avcodec, avcodec_send_packet) \
    FUNCTION(avformat, av_find_best_stream) \
    FUNCTION(avformat, av_guess_frame_rate) \
    FUNCTION(avformat, av_interleaved_write_frame) \
    FUNCTION(avformat, av_probe_input_buffer2) \
    FUNCTION(avformat, av_probe_input_format2) \
    FUNCTION(avformat, av_read_frame) \
    FUNCTION(avformat, av_seek_frame) \
    FUNCTION(avformat, av_write_trailer) \
    FUNCTION(avformat, avformat_alloc_context) \
    FUNCTION(avformat, avformat_alloc_output_context2) \
    FUNCTION(avformat, avformat_close_input) \
    FUNCTION(avformat, avformat_find_stream_info) \
    FUNCTION(avformat, avformat_free_context) \
    FUNCTION(avformat, avformat_new_stream) \
    FUNCTION(avformat, avformat_open_input) \
    FUNCTION(avformat, avformat_query_codec) \
    FUNCTION(avformat, avformat_write_header) \
    FUNCTION(avformat, avio_alloc_context) \
    FUNCTION(avformat, avio_context_free) \
    IO_LIBAV_SIDE_DATA(FUNCTION)

#if LIBAVFORMAT_VERSION_MAJOR >= 61
#define IO_LIBAV_SIDE_DATA(FUNCTION) FUNCTION(avcodec, av_packet_side_data_get)
#else
#define IO_LIBAV_SIDE_DATA(FUNCTION) FUNCTION(avformat, av_stream_get_side_data)
#endif

typedef struct io_libav {
#define FUNCTION(library, name) __typeof__(name) *name;
    IO_EACH_LIBAV_FUNCTION(FUNCTION)
#undef FUNCTION
} io_libav;

/* NULL, with the reason, where the libraries are not installed; error may be NULL. Called by any thread;
 * they stay open. */
const io_libav *io_libav_open(io_error *error);

/* Whether files of this kind hold moving pictures themselves. Pictures have demuxers, too, and so do lists of
 * other files and addresses. */
bool io_libav_is_movie(const AVInputFormat *kind);

/* What the libraries have complained about. A context that points to one by opaque keeps it there, from
 * whatever thread. */
typedef struct io_libav_log {
    pthread_mutex_t lock;
    char first[160];   /* the first complaint, or "" */
    int of_container;  /* how many were of the container, not of a codec, which can live with most */
    int of_codec;
} io_libav_log;

#endif
