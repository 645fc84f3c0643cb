/* SPDX-License-Identifier: MIT */
/* Frames that the device decodes which matches them. */
#ifndef TMATCH_CLI_INPUT_DEVICE_H
#define TMATCH_CLI_INPUT_DEVICE_H

#include "io/movie/movie.h"
#include "io/nvidia/nvjpeg.h"
#include "run/input.h"

/* Leaves a JPEG that nvJPEG decodes undecoded; another file, or where settings->jpeg allows it another JPEG, is decoded
 * here. False with the reason. */
bool input_leave_to_device(cli_input *input, const cli_operand *operand, const input_settings *settings,
                           io_error *error);

/* Takes a movie's frame as it is in a device's memory, if it is there; else it is decoded here. False with the reason. */
bool input_stay_on_device(cli_input *input, const cli_operand *operand, const input_settings *settings,
                          io_error *error);

/* Takes a movie's frame as it is in the codec's memory, which is the source's, if it is upright gray there. False, without
 * an error: it is to be decoded. */
bool input_stay_in_frame(cli_input *input, const cli_operand *operand, const input_settings *settings);

/* What the decoder is to be given for an undecoded input, whose source stays the input's. */
io_nvjpeg_frame input_for_device(const cli_input *input);

/* The input is what was decoded, in the memory of that device, to which it belongs. */
void input_take_place(cli_input *input, const cli_operand *operand, const io_nvjpeg_frame *frame, int device,
                      void *stream);

/* Decodes an undecoded input here. False with the reason. */
bool input_take_back(cli_input *input, const cli_operand *operand, const input_settings *settings, io_error *error);

#endif
