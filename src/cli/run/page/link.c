/* SPDX-License-Identifier: MIT */
#include "run/page/link.h"

#include <libgen.h>
#include <stdlib.h>
#include <string.h>

bool link_init(cli_link *link, const char *page)
{
    char *copy = strdup(page);
    *link = (cli_link){.from = copy ? realpath(dirname(copy), NULL) : NULL};
    free(copy);
    return link->from != NULL;
}

void link_free(cli_link *link)
{
    free(link->from);
    free(link->last);
    free(link->resolved);
}

static void put_url(FILE *out, const char *path)
{
    for (const unsigned char *s = (const unsigned char *)path; *s; s++) {
        if ((*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z') || (*s >= '0' && *s <= '9') ||
            strchr("/-_.~", *s))
            putc(*s, out);
        else
            fprintf(out, "%%%02X", *s);
    }
}

/* The path's folder without links. It is remembered, as the next frame is usually in the same. */
static const char *resolve_folder(cli_link *link, const char *path)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup("./");

    if (folder && link->last && strcmp(folder, link->last) == 0) {
        free(folder);
        return link->resolved;
    }
    free(link->last);
    free(link->resolved);
    link->last = folder;
    link->resolved = folder ? realpath(folder, NULL) : NULL;
    return link->resolved;
}

void link_put(cli_link *link, FILE *out, const char *path)
{
    const char *to = resolve_folder(link, path), *from = link->from;
    const char *slash = strrchr(path, '/');
    size_t common = 0;

    if (!to || strcmp(path, "-") == 0)
        return;
    /* Finds out how far the two agree in whole names. */
    for (size_t i = 0;; i++) {
        const bool to_ends = to[i] == '/' || to[i] == '\0', from_ends = from[i] == '/' || from[i] == '\0';
        if (to_ends && from_ends)
            common = i;
        if (to[i] != from[i] || to[i] == '\0')
            break;
    }
    fputs("./", out);
    for (const char *s = from + common; (s = strchr(s, '/')) && s[1]; s++)
        fputs("../", out);
    if (to[common] == '/' && to[common + 1]) {
        put_url(out, to + common + 1);
        putc('/', out);
    }
    put_url(out, slash ? slash + 1 : path);
}
