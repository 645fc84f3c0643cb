/* SPDX-License-Identifier: MIT */
#include "lcc/lcc.h"

static bool valid_size(int64_t size)
{
    return size >= 1 && size <= INT32_MAX;
}

tm_status tm_geometry_init(tm_geometry *geometry, tm_domain domain, int64_t frame_width,
                           int64_t frame_height, int64_t template_width,
                           int64_t template_height)
{
    if (!valid_size(frame_width) || !valid_size(frame_height) || !valid_size(template_width) ||
        !valid_size(template_height))
        return TM_ERR_INVALID;
    if (template_width > frame_width || template_height > frame_height)
        return TM_ERR_FRAME_TOO_SMALL;

    tm_geometry g = {.frame_width = frame_width,
                     .frame_height = frame_height,
                     .template_width = template_width,
                     .template_height = template_height};
    switch (domain) {
    case TM_DOMAIN_VALID:
        g.map_width = frame_width - template_width + 1;
        g.map_height = frame_height - template_height + 1;
        break;
    case TM_DOMAIN_SAME:
        g.pad_x = (template_width - 1) / 2;
        g.pad_y = (template_height - 1) / 2;
        g.map_width = frame_width;
        g.map_height = frame_height;
        break;
    case TM_DOMAIN_FULL:
        g.pad_x = template_width - 1;
        g.pad_y = template_height - 1;
        g.map_width = frame_width + template_width - 1;
        g.map_height = frame_height + template_height - 1;
        break;
    default:
        return TM_ERR_INVALID;
    }
    *geometry = g;
    return TM_OK;
}

tm_status tm_map_size(tm_domain domain, int64_t frame_width, int64_t frame_height,
                      int64_t template_width, int64_t template_height, int64_t *map_width,
                      int64_t *map_height)
{
    tm_geometry g;
    if (!map_width || !map_height)
        return TM_ERR_INVALID;
    tm_status status = tm_geometry_init(&g, domain, frame_width, frame_height, template_width,
                                        template_height);
    if (status == TM_OK) {
        *map_width = g.map_width;
        *map_height = g.map_height;
    }
    return status;
}

const char *tm_metric_name(tm_metric metric)
{
#define NAME(NAME, name, dividend, divisor) [TM_METRIC_##NAME] = name,
    static const char *const names[] = {TM_EACH_METRIC(NAME)};
#undef NAME
    return (size_t)metric < sizeof names / sizeof *names ? names[metric] : NULL;
}

#define CHECK(NAME, name, dividend, divisor)                                                       \
    _Static_assert((dividend) == TM_COVARIANCE                                                     \
                       ? (divisor) == TM_BY_PIXELS || (divisor) == TM_BY_DEVIATIONS                \
                       : (divisor) != TM_BY_DEVIATIONS,                                            \
                   name " is none of the formulas");
TM_EACH_METRIC(CHECK)
#undef CHECK

int tm_metric_is_integer(tm_metric metric)
{
    return tm_metric_name(metric) && tm_is_integer(metric);
}

int tm_metric_is_distance(tm_metric metric)
{
    return tm_metric_name(metric) && tm_is_distance(metric);
}

size_t tm_map_element_size(tm_metric metric)
{
    if (!tm_metric_name(metric))
        return 0;
    return tm_is_integer(metric) ? sizeof(int64_t) : sizeof(float);
}

tm_status tm_map_skipped(tm_metric metric, void *element)
{
    if (!element || !tm_metric_name(metric))
        return TM_ERR_INVALID;
    const tm_value value = tm_skipped_value(metric);
    if (tm_is_integer(metric))
        *(int64_t *)element = value.integer;
    else
        *(float *)element = value.score;
    return TM_OK;
}
