/* SPDX-License-Identifier: MIT */
/* JPEG files decoded by NVIDIA's nvJPEG, luma only, into the memory of a CUDA device, by the GPU's JPEG engines where it
 * has any. Samples differ from libjpeg's by a rounding here and there. */
#ifndef TMATCH_IO_NVIDIA_NVJPEG_H
#define TMATCH_IO_NVIDIA_NVJPEG_H

#include "io/io.h"

/* Whether there are CUDA's driver and nvJPEG; else the error says what is missing. */
bool io_nvjpeg_is_there(io_error *error);

/* What a file is to nvJPEG. */
typedef enum io_nvjpeg_kind {
    IO_NVJPEG_OTHER,    /* no JPEG */
    IO_NVJPEG_SUITED,
    IO_NVJPEG_UNSUITED, /* one that only libjpeg decodes to the same picture; the error says why, "CMYK" */
    IO_NVJPEG_BROKEN    /* one that nobody decodes; the error says why */
} io_nvjpeg_kind;

/* Looks at a file's header, and whether it has an end. picture becomes what will be decoded, with the stored width
 * and height, and without samples. Broken is also what the limits refuse. */
io_nvjpeg_kind io_nvjpeg_look(const io_source *source, const io_limits *limits, io_picture *picture, io_error *error);

/* A decoder on one device, used by one thread at a time. */
typedef struct io_nvjpeg io_nvjpeg;

/* device: as CUDA counts them. *decoder is to be closed in any case. False with the reason. */
bool io_nvjpeg_open(io_nvjpeg **decoder, int device, io_error *error);
void io_nvjpeg_close(io_nvjpeg **decoder);

/* "nvJPEG 13.0.4, by its hardware" */
const char *io_nvjpeg_name(const io_nvjpeg *decoder);

/* One file of several, which io_nvjpeg_look has found suited. */
typedef struct io_nvjpeg_frame {
    const uint8_t *data;
    size_t size;
    int64_t width, height;
    /* Written by the decoder: */
    void *memory;  /* the device's, of the first sample; it is the decoder's, until it decodes again */
    int64_t pitch; /* bytes from one row to the next */
    bool decoded;
    bool declined;  /* not decoded because of what the file is, not because the device failed */
    io_error error; /* why it is not */
} io_nvjpeg_frame;

/* How many bytes of the device a frame takes. */
size_t io_nvjpeg_bytes(const io_nvjpeg_frame *frame);

/* Decodes files together, and returns when their samples are there. */
void io_nvjpeg_decode(io_nvjpeg *decoder, io_nvjpeg_frame *frames, size_t count);

/* The stream, a cudaStream_t, in which the samples came to be. */
void *io_nvjpeg_stream(const io_nvjpeg *decoder);

#endif
