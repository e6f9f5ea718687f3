/* The same algorithms as plain loops, for one whole call of a pipeline each. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void blur(const float *restrict x, float *restrict y, int64_t n)
{
    y[0] = (x[0] + x[0] + x[n > 1]) * 0.25f;
#pragma omp parallel for
    for (int64_t i = 1; i < n - 1; i++)
        y[i] = (x[i - 1] + x[i] + x[i + 1]) * 0.25f;
    if (n > 1)
        y[n - 1] = (x[n - 2] + x[n - 1] + x[n - 1]) * 0.25f;
}

/* Eight stencils, to and fro between two arrays; the result is in y. */
int blurred_eight_times(const float *x, float *y, float *t, int64_t n)
{
    blur(x, t, n);
    blur(t, y, n);
    for (int step = 0; step < 3; step++) {
        blur(y, t, n);
        blur(t, y, n);
    }
    return 0;
}

static void sweep(const float *restrict x, const float *restrict rhs, float *restrict y, int64_t h,
                  int64_t w)
{
#pragma omp parallel for
    for (int64_t i = 0; i < h; i++)
        for (int64_t j = 0; j < w; j++) {
            float near = 0.0f;
            if (i > 0)
                near += x[(i - 1) * w + j];
            if (i + 1 < h)
                near += x[(i + 1) * w + j];
            if (j > 0)
                near += x[i * w + j - 1];
            if (j + 1 < w)
                near += x[i * w + j + 1];
            y[i * w + j] = 0.2f * (near + rhs[i * w + j]);
        }
}

int jacobi(float *x, const float *rhs, float tolerance, uint32_t *looks, float *y, int64_t h,
           int64_t w)
{
    for (;;) {
        for (int k = 0; k < 8; k++) {
            sweep(x, rhs, y, h, w);
            sweep(y, rhs, x, h, w);
        }
        int far = 0;
#pragma omp parallel for reduction(| : far)
        for (int64_t i = 0; i < h * w; i++)
            far |= fabsf(x[i] - y[i]) > tolerance;
        looks[0]++;
        if (!far)
            return 0;
    }
}

int reaching(const uint32_t *first, const uint32_t *edges, const uint32_t *made,
             const uint32_t *ended, int64_t words, uint32_t *rounds, uint32_t *result, uint32_t *other,
             int64_t nodes)
{
    uint32_t *a = result, *b = other;
    memset(a, 0, nodes * words * 4);
    for (;;) {
        uint32_t moved = 0;
#pragma omp parallel for reduction(| : moved)
        for (int64_t node = 0; node < nodes; node++)
            for (int64_t word = 0; word < words; word++) {
                int64_t i = node * words + word;
                uint32_t into = 0;
                for (uint32_t e = first[node]; e < first[node + 1]; e++)
                    into |= a[edges[e] * words + word];
                uint32_t value = made[i] | (into & ~ended[i]);
                b[i] = value;
                moved |= value ^ a[i];
            }
        uint32_t *t = a;
        a = b;
        b = t;
        rounds[0]++;
        if (!moved)
            break;
    }
    if (a != result)
        memcpy(result, a, nodes * words * 4);
    return 0;
}

int bfs(const uint32_t *first, const uint32_t *edges, uint32_t *level, int64_t most,
        uint32_t *rounds, uint32_t *front, uint32_t *seen, uint32_t *after, int64_t n)
{
    int64_t words = (n + 31) / 32;
    uint32_t depth = 0;
    for (int64_t w = 0; w < words; w++) {
        uint32_t found = 0;
        for (int k = 0; k < 32 && w * 32 + k < n; k++)
            found |= (uint32_t)(level[w * 32 + k] == 0) << k;
        front[w] = seen[w] = found;
        after[w] = 0;
    }
    for (;;) {
        int64_t size = 0;
#pragma omp parallel for reduction(+ : size)
        for (int64_t w = 0; w < words; w++)
            size += __builtin_popcount(front[w]);
        if (size < most) {
#pragma omp parallel for schedule(dynamic, 64)
            for (int64_t w = 0; w < words; w++)
                for (uint32_t bits = front[w]; bits; bits &= bits - 1) {
                    int64_t v = w * 32 + __builtin_ctz(bits);
                    for (uint32_t e = first[v]; e < first[v + 1]; e++) {
                        uint32_t u = edges[e];
                        if (!(seen[u >> 5] >> (u & 31) & 1)) {
                            __atomic_store_n(&level[u], depth + 1, __ATOMIC_RELAXED);
                            __atomic_fetch_or(&after[u >> 5], 1u << (u & 31), __ATOMIC_RELAXED);
                        }
                    }
                }
        } else {
#pragma omp parallel for schedule(dynamic, 64)
            for (int64_t w = 0; w < words; w++) {
                uint32_t found = 0;
                for (uint32_t bits = ~seen[w]; bits; bits &= bits - 1) {
                    int64_t v = w * 32 + __builtin_ctz(bits);
                    if (v >= n)
                        break;
                    for (uint32_t e = first[v]; e < first[v + 1]; e++) {
                        uint32_t u = edges[e];
                        if (front[u >> 5] >> (u & 31) & 1) {
                            level[v] = depth + 1;
                            found |= 1u << (v & 31);
                            break;
                        }
                    }
                }
                after[w] = found;
            }
        }
        uint32_t moved = 0;
#pragma omp parallel for reduction(| : moved)
        for (int64_t w = 0; w < words; w++) {
            moved |= after[w];
            front[w] = after[w];
            seen[w] |= after[w];
            after[w] = 0;
        }
        depth++;
        rounds[0]++;
        if (!moved)
            return 0;
    }
}
