/* SPDX-License-Identifier: MIT */
/* What the emulated device's files share. */
#ifndef TMATCH_EMULATED_DEVICE_H
#define TMATCH_EMULATED_DEVICE_H

#include <cuda_runtime.h>

#include <mutex>

extern std::recursive_mutex em_mutex;
typedef std::lock_guard<std::recursive_mutex> em_lock;

[[noreturn]] void em_fail(const char *why);

/* The device that the calling thread works with. */
int em_current_device();

/* Adds to a stream; and runs all that streams have. */
cudaError_t em_push(cudaStream_t stream, std::function<void()> run);
void em_run_all();

/* Lets memory of tests be touched, as long as an operation of a stream runs. */
void em_open_memory(bool open);

#endif
