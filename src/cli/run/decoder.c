/* SPDX-License-Identifier: MIT */
#include "run/decoder.h"

#include <string.h>

#include "hash.h"
#include "io/nvidia/nvjpeg.h"
#include "message.h"

/* What nvJPEG is not combined with. */
static const char *find_obstacle(const cli_options *o)
{
    return o->settings.device != TM_DEVICE_CUDA ? "needs --device cuda"
           : o->sandbox  ? "decodes in this process and by the GPU's driver, which --sandbox cannot confine"
           : o->color    ? "decodes luma only, and cannot be combined with --color"
           : o->depth > 8 ? "decodes to 8 bits, and --depth asks for more"
           : o->frame_mask ? "leaves frames on the GPU, and cannot be combined with --frame-mask"
           : o->posed      ? "leaves frames on the GPU, and cannot be combined with --angle and --scale"
           : o->has_rows   ? "decodes whole frames, and cannot be combined with --rows"
           : o->subpixel   ? "leaves frames on the GPU, and cannot be combined with --subpixel"
           : o->verify     ? "leaves frames on the GPU, and cannot be combined with --verify"
           : o->max_memory ? "takes memory that --max-memory cannot limit"
           : o->settings.device_memory ? "takes memory that --max-gpu-memory cannot limit"
                                       : NULL;
}

bool decoder_choose(cli_options *o)
{
    static const char name[] = "decoder nvjpeg", mixed[] = "decoder auto";
    const bool asked = o->decoder == CLI_NVJPEG;
    const char *obstacle = find_obstacle(o);
    io_error error;

    if (o->decoder == CLI_LIBJPEG)
        return true;
    if (!obstacle && io_nvjpeg_is_there(&error)) {
        o->fingerprint += asked ? hash_bytes(0, name, strlen(name)) : hash_bytes(0, mixed, strlen(mixed));
        return true;
    }
    if (asked && obstacle)
        message_usage("--decoder nvjpeg %s", obstacle);
    else if (asked)
        message(NULL, "--decoder nvjpeg: %s", error.reason);
    else if (o->verbose)
        message_info(NULL, "JPEG is decoded by libjpeg: %s%s", obstacle ? "nvJPEG " : "", obstacle ? obstacle : error.reason);
    o->decoder = CLI_LIBJPEG;
    return !asked;
}
