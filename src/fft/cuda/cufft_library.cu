/* SPDX-License-Identifier: MIT */
#include "fft/cuda/cufft_library.cuh"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include <mutex>

#if defined(__NVCC__) && __has_include(<cufft.h>)
#include <cufft.h>
static_assert(CUFFT_FORWARD == TM_CUFFT_FORWARD && CUFFT_INVERSE == TM_CUFFT_INVERSE &&
                  (int)CUFFT_Z2Z == TM_CUFFT_Z2Z &&
                  (int)CUFFT_ALLOC_FAILED == TM_CUFFT_ALLOC_FAILED &&
                  sizeof(cufftHandle) == sizeof(int) && sizeof(cufftResult) == sizeof(int) &&
                  sizeof(cufftDoubleComplex) == sizeof(double2),
              "what cufft_library.cuh declares is what cufft.h has");
#endif

/* Where the loader looks, then where CUDA toolkits lie; newest first. */
static const char *const folders[] = {"", "/usr/local/cuda/lib64/",
                                      "/usr/local/cuda/targets/x86_64-linux/lib/",
                                      "/usr/local/cuda/targets/sbsa-linux/lib/", "/opt/cuda/lib64/"};
static const char *const names[] = {"libcufft.so.12", "libcufft.so.11", "libcufft.so.10",
                                    "libcufft.so"};

/* Says why the first name of all cannot be opened. */
static void *open_any(char *why, size_t size)
{
    char path[256];
    for (const char *folder : folders) {
        for (const char *name : names) {
            snprintf(path, sizeof path, "%s%s", folder, name);
            void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
            if (library)
                return library;
            const char *error = dlerror();
            if (folder == folders[0] && name == names[0])
                snprintf(why, size, "the cufft algorithm needs %s, %s or %s of the CUDA toolkit: %s",
                         names[0], names[1], names[2], error);
        }
    }
    return NULL;
}

static void *open_named(const char *path, char *why, size_t size)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        snprintf(why, size, "the cufft algorithm needs what TMATCH_CUFFT names: %s", dlerror());
    return library;
}

/* Finds a function; says so where there is none. */
template <class F>
static bool find(void *library, F *function, const char *name, char *why, size_t size)
{
    *function = (F)dlsym(library, name);
    if (!*function)
        snprintf(why, size, "the cufft algorithm needs another libcufft.so: this one has no %s", name);
    return *function != NULL;
}

static bool open_library(tm_cufft_library *l, char *why, size_t size)
{
    const char *own = getenv("TMATCH_CUFFT");
    void *library = own && *own ? open_named(own, why, size) : open_any(why, size);

    return library && find(library, &l->create, "cufftCreate", why, size) &&
           find(library, &l->destroy, "cufftDestroy", why, size) &&
           find(library, &l->set_auto_allocation, "cufftSetAutoAllocation", why, size) &&
           find(library, &l->make_plan, "cufftMakePlanMany64", why, size) &&
           find(library, &l->set_work_area, "cufftSetWorkArea", why, size) &&
           find(library, &l->set_stream, "cufftSetStream", why, size) &&
           find(library, &l->execute, "cufftExecZ2Z", why, size);
}

const tm_cufft_library *tm_cufft_open(char *why, size_t size)
{
    static std::mutex mutex;
    static tm_cufft_library library;
    static bool is_open;
    const std::lock_guard<std::mutex> lock(mutex);

    is_open = is_open || open_library(&library, why, size);
    return is_open ? &library : NULL;
}
