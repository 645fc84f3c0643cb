/* SPDX-License-Identifier: MIT */
#include "run/protected.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "message.h"
#include "run/operand.h"

/* Which file a path names, whatever the path. */
typedef struct cli_identity {
    dev_t device;
    ino_t inode;
} cli_identity;

/* "-" is standard input. False if there is no such file, or the path is NULL. The whole
 * of *id is set, so that memcmp compares it. */
static bool identify(const char *path, cli_identity *id)
{
    struct stat status;
    memset(id, 0, sizeof *id);
    if (!path || (strcmp(path, "-") == 0 ? fstat(STDIN_FILENO, &status) : stat(path, &status)) != 0)
        return false;
    id->device = status.st_dev;
    id->inode = status.st_ino;
    return true;
}

bool protected_init(cli_protected *protected, const cli_options *options, const cli_frames *frames,
                    const cli_templates *templates, const cli_masks *masks)
{
    const char *named[] = {masks->tmpl.operand.path, masks->frame.operand.path, options->files_from};

    *protected = (cli_protected){.frames = frames, .lock = PTHREAD_MUTEX_INITIALIZER};
    protected->others = calloc(templates->count + 3, sizeof *protected->others);
    if (!protected->others) {
        message(NULL, "out of memory");
        return false;
    }
    for (size_t i = 0; i < templates->count; i++)
        if (templates->list[i].operand.path)
            protected->others[protected->other_count++] = templates->list[i].operand.path;
    for (int i = 0; i < 3; i++)
        if (named[i])
            protected->others[protected->other_count++] = named[i];
    return true;
}

void protected_free(cli_protected *protected)
{
    free(protected->others);
    free(protected->sorted);
}

static int compare(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(cli_identity));
}

static void list_all(cli_protected *protected)
{
    const cli_frames *frames = protected->frames;
    cli_identity *list = malloc((frames->count + protected->other_count + 1) * sizeof *list);

    protected->count = 0;
    for (size_t i = 0; i < frames->count && list; i++) {
        cli_operand operand;
        operand_init(&operand, &frames->list[i]); /* takes a crop off the name */
        protected->count += identify(operand.path, &list[protected->count]);
        operand_free(&operand);
    }
    for (size_t i = 0; i < protected->other_count && list; i++)
        protected->count += identify(protected->others[i], &list[protected->count]);
    if (list)
        qsort(list, protected->count, sizeof *list, compare);
    protected->sorted = list;
}

/* Only a file that exists can be an input: on a first run nothing is listed. */
bool protected_allows(cli_protected *protected, const char *path, io_error *error)
{
    cli_identity id;

    if (!identify(path, &id))
        return true;
    pthread_mutex_lock(&protected->lock);
    if (!protected->sorted)
        list_all(protected);
    pthread_mutex_unlock(&protected->lock);
    if (protected->sorted && !bsearch(&id, protected->sorted, protected->count, sizeof id, compare))
        return true;
    strcpy(error->reason,
           protected->sorted ? "is an input too, and would be overwritten" : "out of memory");
    return false;
}
