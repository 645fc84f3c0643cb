/* SPDX-License-Identifier: MIT */
/* The process's one sandbox, opened when it is asked for first. Its helpers end when the process does. */
#include "tmpy.h"

#include <unistd.h>

#include "io/sandbox/sandbox.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static io_sandbox *sandbox;
static pid_t owner; /* a forked process opens one of its own, and leaves that of its parent alone */

/* open_sandbox(program) -> what it consists of; the others may be called with sandboxed=True then */
PyObject *tmpy_open_sandbox(PyObject *module, PyObject *args)
{
    PyObject *program;
    io_sandbox *opened = NULL;
    io_error error = {.reason = ""};

    if (!PyArg_ParseTuple(args, "O&", PyUnicode_FSConverter, &program))
        return NULL;
    const char *name = PyBytes_AsString(program);
    PyThreadState *gil = PyEval_SaveThread();
    pthread_mutex_lock(&lock);
    if (owner == getpid())
        opened = sandbox;
    else if (io_sandbox_open_from(&opened, name, 0, &error)) {
        sandbox = opened;
        owner = getpid();
    }
    pthread_mutex_unlock(&lock);
    PyEval_RestoreThread(gil);
    Py_DECREF(program);
    return opened ? PyUnicode_FromString(io_sandbox_describe(opened))
                  : tmpy_fail_sandbox(tmpy_state_of(module), error.reason);
}

struct io_decoder *tmpy_sandbox_decoder(void)
{
    return io_sandbox_decoder(sandbox);
}
