/* SPDX-License-Identifier: MIT */
/* Stands in wheels where Debian's libtiff wants libjbig.so.0, JBIG-KIT, which is under the GPL: whoever reads a TIFF that is
 * compressed by JBIG, as fax machines once did, is told so. These are the functions that libtiff calls. */
#include <stddef.h>

#define REFUSED 0xf0 /* no status of JBIG-KIT's own, and no success */

void jbg_dec_init(void *state);
int jbg_dec_in(void *state, unsigned char *data, size_t length, size_t *used);
unsigned long jbg_dec_getsize(const void *state);
unsigned char *jbg_dec_getimage(const void *state, int plane);
void jbg_dec_free(void *state);
void jbg_enc_init(void *state, unsigned long width, unsigned long height, int planes, unsigned char **bitmaps,
                  void (*out)(unsigned char *, size_t, void *), void *file);
void jbg_enc_out(void *state);
void jbg_enc_free(void *state);
int jbg_newlen(unsigned char *data, size_t length);
const char *jbg_strerror(int status);

void jbg_dec_init(void *state)
{
    (void)state;
}

int jbg_dec_in(void *state, unsigned char *data, size_t length, size_t *used)
{
    (void)state, (void)data, (void)length, (void)used;
    return REFUSED;
}

unsigned long jbg_dec_getsize(const void *state)
{
    (void)state;
    return 0;
}

unsigned char *jbg_dec_getimage(const void *state, int plane)
{
    (void)state, (void)plane;
    return NULL;
}

void jbg_dec_free(void *state)
{
    (void)state;
}

void jbg_enc_init(void *state, unsigned long width, unsigned long height, int planes, unsigned char **bitmaps,
                  void (*out)(unsigned char *, size_t, void *), void *file)
{
    (void)state, (void)width, (void)height, (void)planes, (void)bitmaps, (void)out, (void)file;
}

void jbg_enc_out(void *state)
{
    (void)state;
}

void jbg_enc_free(void *state)
{
    (void)state;
}

int jbg_newlen(unsigned char *data, size_t length)
{
    (void)data, (void)length;
    return REFUSED;
}

const char *jbg_strerror(int status)
{
    (void)status;
    return "JBIG is not in this build of tmatch";
}
