/* SPDX-License-Identifier: MIT */
/* Scores of the tensor-core kernels, lcc/cuda/tensor/epilogue.cuh: that their operations round once. */
#include <math.h>
#include <stdlib.h>

#include "check.h"
#include "score_cuda.h"

/* x^n modulo m, which is below 2^24. */
static uint64_t power(uint64_t x, int n, uint64_t m)
{
    uint64_t product = 1 % m;

    for (; n; n >>= 1, x = x * x % m)
        if (n & 1)
            product = product * x % m;
    return product;
}

/* One correction of num y, y = RN(1 / d), gives RN(num / d).
 *
 * Let d and num lie in [1, 2): powers of two do not matter, as nothing underflows where num is an integer and d < 2^50, nor signs.
 * num = d gives 1. Else |y - 1 / d| <= 2^-25, so q0 = RN(num y) is wrong by at most 1.5 ulp, and the remainder num - d q0 is a
 * multiple of ulp(q) ulp(d) below 1.5 * 2^24 of them, so it is rounded by at most 1.
 * Then q0 + remainder y, before it is rounded, differs from num / d by at most (2^-23 + 1.5 * 2^-24) ulp. That matters only where num / d is
 * as near to the middle of two numbers. With the mantissas D and N as integers and the middle as M / 2 ulp, M odd, the distance
 * is |e| / 2D ulp, e = N 2^k - D M, k = 24, or 25 if N < D; so |e| < 7. All such D and N are tried. */
static void quotients_need_one_correction(void)
{
    const uint32_t first = 1u << 23, end = 1u << 24, step = check_is_slow() ? 1021 : 1;
    int64_t tried = 0;

    for (uint32_t of_d = first + (uint32_t)check_random_in(0, step - 1); of_d < end; of_d += step) {
        const float d = (float)of_d * 0x1p-23f, y = (float)(1 / (double)d);
        const int zeros = __builtin_ctz(of_d);
        const int64_t odd = of_d >> zeros;
        if (odd == 1)
            continue; /* y is exact */
        for (int k = 24; k <= 25; k++) {
            /* N = e / 2^k modulo the odd part */
            const int64_t inverse = (int64_t)power((uint64_t)(odd + 1) / 2, k - zeros, (uint64_t)odd);
            for (int e = -7; e <= 7; e += 2) {
                if (abs(e) << zeros > 7)
                    continue;
                int64_t n = (e % odd + odd) % odd * inverse % odd;
                if (n < first)
                    n += (first - n + odd - 1) / odd * odd;
                for (; n < end; n += odd) {
                    if ((k == 24) != (n >= of_d))
                        continue;
                    const float num = (float)n * 0x1p-23f, quotient = num / d;
                    float q = num * y;
                    q = fmaf(fmaf(-d, q, num), y, q);
                    tried++;
                    if (q != quotient)
                        check_fail(__FILE__, __LINE__, "%a / %a: %a, not %a", num, d, q, quotient);
                }
            }
        }
    }
    printf("# %" PRId64 " quotients\n", tried);
    if (step == 1)
        CHECK_EQ(tried, 40702450);
    else
        CHECK(tried > 4 * (int64_t)(first / step));
}

static void cuda_rounds_once(void)
{
#if TEST_HAVE_CUDA
    score_errors errors;
    bool nearest = false;
    const char *failure, *why = score_cuda((unsigned)check_random(), &errors, &nearest, &failure);

    if (why)
        check_skip(why);
    if (failure)
        check_fail(__FILE__, __LINE__, "%s", failure);
    CHECK_EQ(errors.tried, 99 * (INT64_C(1) << 23));
    CHECK_EQ(errors.roots, 0);
    CHECK_EQ(errors.scores, 0);
    if (nearest) {
        CHECK_EQ(errors.reciprocals, 0);
        CHECK_EQ(errors.quotients, 0);
    }
#else
    check_skip("built without CUDA");
#endif
}

int main(int argc, char **argv)
{
    static const check_test tests[] = {TEST(quotients_need_one_correction), TEST(cuda_rounds_once)};
    return check_main(tests, sizeof tests / sizeof *tests, argc, argv);
}
