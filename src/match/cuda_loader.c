/* SPDX-License-Identifier: MIT */
#include "match/cuda_loader.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLUGIN_NAME "libtmatch-cuda.so"
enum { PATH_BYTES = 4096 };

/* Opening the plugin maps megabytes of kernels; a machine without a driver is told
 * apart for a fifth of that time by asking for the driver itself, which stays: the
 * plugin would load it anew. A plugin that was named is opened in any case: it may be
 * the tests' own, which needs none. */
static bool driver_present(tm_message *message)
{
    const char *override = getenv("TMATCH_PLUGIN_DIR");
    if (override && *override)
        return true;
    if (dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL))
        return true;
    snprintf(message->text, sizeof message->text, "no CUDA driver: %s", dlerror());
    return false;
}

/* Writes the candidate directories' plugin paths in turn; false after the last. */
static bool candidate_path(int index, char *path, size_t size)
{
    static const char *const beside[] = {"", "/tmatch", ("/" TM_PLUGIN_FROM_BINDIR),
#ifdef TM_PLUGIN_PACKAGE
                                         ("/" TM_PLUGIN_PACKAGE)
#endif
    };
    const int folders = sizeof beside / sizeof *beside;
    const char *override = getenv("TMATCH_PLUGIN_DIR");
    Dl_info self;

    path[0] = '\0';
    if (override && *override) {
        snprintf(path, size, "%s/" PLUGIN_NAME, override);
        return index == 0;
    }
    if (index < folders) {
        const char *slash;
        if (dladdr((const void *)&tm_cuda_load, &self) && self.dli_fname &&
            (slash = strrchr(self.dli_fname, '/')))
            snprintf(path, size, "%.*s%s/" PLUGIN_NAME, (int)(slash - self.dli_fname),
                     self.dli_fname, beside[index]);
        return true;
    }
    snprintf(path, size, "%s/" PLUGIN_NAME, TM_PLUGIN_DIR);
    return index == folders;
}

/* Opens the first file that there is, and says which it is; NULL, and "", where there is none. */
static FILE *open_plugin(char *path, size_t size)
{
    FILE *file = NULL;
    for (int i = 0; !file && candidate_path(i, path, size); i++)
        file = path[0] ? fopen(path, "rb") : NULL;
    if (!file)
        path[0] = '\0';
    return file;
}

void tm_cuda_backend_path(char *path, size_t size)
{
    char found[PATH_BYTES];
    FILE *file = open_plugin(found, sizeof found);
    if (file)
        fclose(file);
    if (path && size)
        snprintf(path, size, "%s", found);
}

static bool ends_within(uint64_t offset, uint64_t count, uint64_t each, uint64_t size)
{
    return offset <= size && count * each <= size - offset;
}

/* Whether the file has all that its header says. dlopen maps the segments of one that was
 * cut short all the same, and the program dies by SIGBUS where it touches the rest.
 * A file that is no ELF file of this machine's class is left to dlopen, which says so. */
static bool is_whole(FILE *file)
{
    unsigned char start[sizeof(ElfW(Ehdr))];
    ElfW(Ehdr) header;
    ElfW(Phdr) segment;

    const size_t got = fread(start, 1, sizeof start, file);
    if (memcmp(start, ELFMAG, got < SELFMAG ? got : SELFMAG) != 0)
        return true;
    if (got < sizeof start || fseeko(file, 0, SEEK_END) != 0)
        return false;
    if (start[EI_CLASS] != (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32))
        return true;
    memcpy(&header, start, sizeof header);
    const uint64_t size = (uint64_t)ftello(file);
    if (!ends_within(header.e_phoff, header.e_phnum, sizeof segment, size) ||
        !ends_within(header.e_shoff, header.e_shnum, header.e_shentsize, size) ||
        fseeko(file, (off_t)header.e_phoff, SEEK_SET) != 0)
        return false;
    for (int i = 0; i < header.e_phnum; i++)
        if (fread(&segment, sizeof segment, 1, file) != 1 ||
            !ends_within(segment.p_offset, segment.p_filesz, 1, size))
            return false;
    return true;
}

/* What does not fit is cut off. */
__attribute__((format(printf, 2, 3))) static tm_status refuse(tm_message *message, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    vsnprintf(message->text, sizeof message->text, format, values);
    va_end(values);
    return TM_ERR_NO_DEVICE;
}

tm_status tm_cuda_load(tm_cuda_library *library, tm_message *message)
{
    char path[PATH_BYTES];

    if (library->plugin)
        return TM_OK;
    if (!driver_present(message))
        return TM_ERR_NO_DEVICE;
    FILE *file = open_plugin(path, sizeof path);
    if (!file)
        return refuse(message, "the CUDA backend, %s, is not installed", PLUGIN_NAME);
    const bool whole = is_whole(file);
    fclose(file);
    if (!whole)
        return refuse(message, "%s is incomplete: install the CUDA backend anew", path);
    /* It stays when it is closed: loaded anew, it would start CUDA anew. */
    library->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!library->handle)
        return refuse(message, "%s", dlerror());
    const tm_backend *(*get)(void);
    *(void **)&get = dlsym(library->handle, "tm_cuda_plugin_get");
    const tm_backend *plugin = get ? get() : NULL;
    if (plugin && plugin->version == TM_BACKEND_VERSION) {
        library->plugin = plugin;
        return TM_OK;
    }
    tm_cuda_unload(library);
    if (!plugin)
        return refuse(message, "%s is no CUDA backend of tmatch", path);
    /* The path last, as it may be long. It stays loaded, so its version can still be read. */
    return refuse(message,
                  "the CUDA backend belongs to another version of tmatch (it is backend %d, tmatch %s takes %d): "
                  "install both of one version: %s",
                  plugin->version, tm_version(), TM_BACKEND_VERSION, path);
}

void tm_cuda_unload(tm_cuda_library *library)
{
    if (library->handle)
        dlclose(library->handle);
    library->handle = NULL;
    library->plugin = NULL;
}
