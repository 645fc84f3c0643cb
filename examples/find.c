/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <tmatch/tmatch.h>

int main(void)
{
    /* a frame of noise, and a template that lies in it at (300, 200) */
    static uint8_t pixels[480 * 640];
    for (size_t i = 0; i < sizeof pixels; i++)
        pixels[i] = (uint8_t)(rand() >> 7);
    tm_image frame = {.samples = pixels, .width = 640, .height = 480, .stride = 640};
    tm_image crop = {.samples = pixels + 200 * 640 + 300, .width = 32, .height = 24, .stride = 640};

    tm_settings settings;
    tm_settings_default(&settings, sizeof settings);

    tm_matcher *matcher = NULL;
    tm_template *tmpl = NULL;
    tm_peak best;
    if (tm_matcher_create(&matcher, &settings) == TM_OK &&
        tm_template_create(&tmpl, matcher, &crop) == TM_OK &&
        tm_match(matcher, &frame, tmpl, &best, NULL) == TM_OK)
        printf("x=%d y=%d score=%g\n", (int)best.x, (int)best.y, best.score);
    else
        fprintf(stderr, "%s\n", tm_matcher_message(matcher));

    tm_template_destroy(&tmpl);
    tm_matcher_destroy(&matcher);
    return 0;
}
