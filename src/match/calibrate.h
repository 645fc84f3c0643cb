/* SPDX-License-Identifier: MIT */
#ifndef TMATCH_MATCH_CALIBRATE_H
#define TMATCH_MATCH_CALIBRATE_H

#include "lcc/device.h"

/* Measures the rates of an open device, for some tenths of a second. index: of a CUDA device; the CPU: -1. What
 * the device has no memory for, or cannot do, keeps the usual rate. Errors: MEMORY, those of a match, and DEVICE
 * where a GPU took so long that others must have kept it busy. */
tm_status tm_calibrate(const tm_backend *backend, tm_device *device, int index, tm_rates *rates,
                       tm_message *message);

#endif
