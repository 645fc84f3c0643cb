/* SPDX-License-Identifier: MIT */
#include "run/decoder.h"

#include <string.h>

#include "hash.h"
#include "io/nvidia/libraries.h"
#include "io/nvidia/nvjpeg.h"
#include "message.h"

/* What no frame that is on a device is combined with. */
static const char *find_use_of_host(const cli_options *o)
{
    return o->color        ? "decodes luma only, and cannot be combined with --color"
           : o->depth > 8  ? "decodes to 8 bits, and --depth asks for more"
           : o->frame_mask ? "leaves frames on the GPU, and cannot be combined with --frame-mask"
           : o->posed      ? "leaves frames on the GPU, and cannot be combined with --angle and --scale"
           : o->has_rows   ? "decodes whole frames, and cannot be combined with --rows"
           : o->subpixel   ? "leaves frames on the GPU, and cannot be combined with --subpixel"
           : o->verify     ? "leaves frames on the GPU, and cannot be combined with --verify"
           : o->max_memory ? "takes memory that --max-memory cannot limit"
                           : NULL;
}

static const char *find_obstacle(const cli_options *o)
{
    return o->settings.device != TM_DEVICE_CUDA ? "needs --device cuda"
           : o->sandbox ? "decodes in this process and by the GPU's driver, which --sandbox cannot confine"
           : o->settings.device_memory ? "takes memory that --max-gpu-memory cannot limit"
           : o->decoder == CLI_NVDEC   ? NULL
                                       : find_use_of_host(o);
}

static bool is_there(const cli_options *o, io_error *error)
{
    if (o->decoder != CLI_NVDEC)
        return io_nvjpeg_is_there(error);
    if (io_reads_movies())
        return io_cuda_driver_open(error);
    strcpy(error->reason, "libavformat, which reads movies, is missing");
    return false;
}

bool decoder_choose(cli_options *o)
{
    static const char *const names[] = {
        [CLI_LIBJPEG] = "libjpeg", [CLI_NVJPEG] = "nvjpeg", [CLI_AUTO_DECODER] = "auto", [CLI_NVDEC] = "nvdec"};
    const char *name = names[o->decoder], *obstacle = find_obstacle(o);
    const bool asked = o->decoder != CLI_AUTO_DECODER;
    io_error error;

    if (o->decoder == CLI_LIBJPEG)
        return true;
    if (!obstacle && is_there(o, &error)) {
        if (o->decoder != CLI_NVDEC && !o->quiet)
            message_note(NULL, "nvJPEG does not say where the data of a JPEG are damaged, or end too early; libjpeg does");
        o->fingerprint += hash_bytes(hash_bytes(0, "decoder", strlen("decoder")), name, strlen(name));
        return true;
    }
    if (asked && obstacle)
        message_usage("--decoder %s %s", name, obstacle);
    else if (asked)
        message(NULL, "--decoder %s: %s", name, error.reason);
    else if (o->verbose)
        message_info(NULL, "JPEG is decoded by libjpeg: %s%s", obstacle ? "nvJPEG " : "", obstacle ? obstacle : error.reason);
    o->decoder = CLI_LIBJPEG;
    return !asked;
}

bool decoder_leaves_frames(const cli_options *o)
{
    return !find_use_of_host(o) && !o->depth;
}

int decoder_device(const tm_settings *s)
{
    return s->device_mask == TM_ALL_DEVICES ? 0 : s->device_mask ? __builtin_ctzll(s->device_mask) : s->device_index;
}
