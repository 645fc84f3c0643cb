/* SPDX-License-Identifier: MIT */
/* The text in which measured rates are kept: tm_settings.costs. */
#ifndef TMATCH_MATCH_COSTS_H
#define TMATCH_MATCH_COSTS_H

#include "lcc/device.h"

/* Looks for the last line of such a device that is whole. text: NULL has none. */
bool tm_costs_find(const char *text, const tm_device_info *device, tm_rates *rates);

/* Appends the device's line to the text. False where size is too small. */
bool tm_costs_add(char *text, size_t size, const tm_device_info *device, const tm_rates *rates);

/* Describes the CPU with those of its instruction sets that may be used. */
void tm_costs_cpu(tm_device_info *cpu, uint32_t features);

#endif
