/* SPDX-License-Identifier: MIT */
#include "run/ids.h"

#include <string.h>
#include <sys/stat.h>

#include "hash.h"

static uint64_t hash_picture(uint64_t hash, const io_picture *picture)
{
    const size_t pixels = (size_t)(picture->width * picture->height);
    const size_t pixel = (size_t)(picture->channels * io_sample_size(picture));
    if (picture->samples)
        hash = hash_bytes(hash, picture->samples, pixels * pixel);
    return picture->mask ? hash_bytes(hash, picture->mask, pixels) : hash;
}

/* A file is known by its size and its time of change. False for pipes and the like. */
static bool know_file(const char *path, int64_t facts[3])
{
    struct stat status;
    if (strcmp(path, "-") == 0 || stat(path, &status) != 0 || !S_ISREG(status.st_mode))
        return false;
    facts[0] = status.st_size;
    facts[1] = status.st_mtim.tv_sec;
    facts[2] = status.st_mtim.tv_nsec;
    return true;
}

static bool hash_file(uint64_t *hash, const char *path)
{
    int64_t facts[3];
    const bool known = know_file(path, facts);
    if (known)
        *hash = hash_bytes(*hash, facts, sizeof facts);
    return known;
}

static uint64_t hash_template(uint64_t hash, const cli_template *t)
{
    const int64_t size[3] = {t->width, t->height, io_sample_size(&t->input.gray)};
    hash = hash_bytes(hash, size, sizeof size);
    return hash_picture(hash_picture(hash, &t->input.gray), &t->input.color);
}

/* A template that cannot be used stays so until its file, or its mask, changes. 0: the file is not
 * known. */
static uint64_t hash_broken(uint64_t hash, const cli_template *t, const cli_masks *masks)
{
    if (!t->input.opened || !hash_file(&hash, t->operand.path))
        return 0;
    if (masks && masks->tmpl.operand.path)
        hash_file(&hash, masks->tmpl.operand.path);
    return hash_bytes(hash, t->operand.given, strlen(t->operand.given));
}

void ids_of_templates(uint64_t *ids, const cli_options *options, const cli_templates *templates,
                      const cli_masks *masks)
{
    uint64_t base = options->fingerprint;
    /* a mask from a pipe has no size and time, so its samples count */
    if (options->frame_mask && !hash_file(&base, masks->frame.operand.path))
        base = hash_picture(base, &masks->frame.picture);

    for (size_t i = 0; i < templates->count; i++) {
        const cli_template *t = &templates->list[i];
        uint64_t hash = t->usable ? hash_template(base, t) : hash_broken(base, t, masks);
        for (size_t k = 0; k < i && hash != 0; k++)
            if (ids[k] == hash) {
                hash = hash_bytes(hash, &i, sizeof i);
                break;
            }
        ids[i] = hash;
    }
}

uint64_t ids_of_settings(const uint64_t *ids, const cli_options *options, const cli_templates *templates)
{
    uint64_t hash = hash_bytes(options->fingerprint, ids, templates->count * sizeof *ids);
    for (size_t i = 0; i < templates->count; i++)
        hash = hash_bytes(hash, templates->list[i].operand.given, strlen(templates->list[i].operand.given));
    return hash;
}

void ids_of_frame(uint64_t *ids, const uint64_t *templates, size_t count, const cli_frame *frame, const char *file)
{
    int64_t facts[3];
    const bool known = file && know_file(file, facts);

    for (size_t i = 0; i < count; i++) {
        ids[i] = 0;
        if (!known || templates[i] == 0)
            continue;
        uint64_t hash = hash_bytes(templates[i], frame->path, strlen(frame->path));
        hash = hash_bytes(hash, facts, sizeof facts);
        if (frame->part)
            hash = hash_bytes(hash, &frame->part->number, sizeof frame->part->number);
        ids[i] = hash ? hash : 1;
    }
}

uint64_t ids_rows_hash(const cli_options *o)
{
    const int64_t rows[] = {o->rows_first, o->rows_end};
    return o->has_rows ? hash_bytes(0, rows, sizeof rows) : 0;
}
