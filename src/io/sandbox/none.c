/* SPDX-License-Identifier: MIT */
/* Builds without libseccomp sandbox nothing in, and say so. */
#include "sandbox.h"
#include "io/format.h"

bool io_sandbox_open(io_sandbox **sandbox, int64_t max_memory, io_error *error)
{
    (void)sandbox;
    (void)max_memory;
    return io_fail(error, "this tmatch was built without libseccomp");
}

bool io_sandbox_open_from(io_sandbox **sandbox, const char *program, int64_t max_memory, io_error *error)
{
    (void)program;
    return io_sandbox_open(sandbox, max_memory, error);
}

void io_sandbox_close(io_sandbox **sandbox)
{
    (void)sandbox;
}

io_decoder *io_sandbox_decoder(io_sandbox *sandbox)
{
    (void)sandbox;
    return NULL;
}

const char *io_sandbox_describe(const io_sandbox *sandbox)
{
    (void)sandbox;
    return "";
}

bool io_sandbox_is_zygote(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    return false;
}

int io_sandbox_main(void)
{
    return 2;
}
