/* SPDX-License-Identifier: MIT */
#include "cuda/plugin_on_device.cuh"

#include "cuda/entry.cuh"
#include "cuda/on_device.cuh"
#include "cuda/reader.cuh"

tm_status tm_plugin_accept(tm_cuda *cuda, tm_job *jobs, size_t count, tm_message *message)
{
    return tm_call_entered(cuda, message, [=](tm_message *refusal) {
        return tm_accept(cuda, jobs, count, refusal);
    });
}

tm_status tm_plugin_hand_over(tm_cuda *cuda, const tm_on_device *frame, tm_message *message)
{
    return tm_call_entered(cuda, message, [=](tm_message *) {
        return tm_hand_over(cuda, frame);
    });
}

tm_status tm_plugin_fetch(tm_cuda *cuda, const tm_image *image, const tm_on_device *place,
                          uint8_t *samples, uint8_t *mask, tm_message *message)
{
    return tm_call_entered(cuda, message, [=](tm_message *refusal) {
        return tm_fetch_picture(cuda, image, place, samples, mask, refusal);
    });
}

tm_status tm_plugin_device_alloc(tm_cuda *cuda, size_t size, void **memory, tm_message *message)
{
    return tm_call_entered(cuda, message, [=](tm_message *) {
        return tm_device_malloc(memory, size);
    });
}

void tm_plugin_device_free(tm_cuda *open, int index, void *memory)
{
    tm_cuda device = {};
    tm_entry before;
    device.index = index;
    device.driver = tm_load_driver();
    tm_enter(open ? open : &device, &before);
    tm_device_free(memory);
    tm_leave(&before);
}

tm_status tm_plugin_read_start(tm_cuda *cuda, tm_reader **reader, void *stream, const void *memory, size_t most,
                               size_t size, tm_message *message)
{
    return tm_call_entered(cuda, message, [=](tm_message *refusal) {
        return tm_reader_start(cuda, reader, (cudaStream_t)stream, memory, most, size, refusal);
    });
}

/* The device may be another thread's, or closed. */
tm_status tm_plugin_read_bytes(tm_reader *reader, bool wait, const void **bytes, tm_message *message)
{
    tm_cuda device = {};
    device.index = reader->index;
    device.driver = reader->driver;
    return tm_call_entered(&device, message, [=](tm_message *) {
        return tm_reader_bytes(reader, wait, bytes);
    });
}

void tm_plugin_read_free(tm_reader *reader)
{
    tm_cuda device = {};
    tm_entry before;
    device.index = reader->index;
    device.driver = reader->driver;
    tm_enter(&device, &before);
    tm_reader_free(reader);
    tm_leave(&before);
}
