#include <omp.h>
#include <stdint.h>

/* Each thread sums its share, the shares are offset, each thread scans its share. */
void prefix_sum(const uint32_t *x, uint32_t *out, int64_t n) {
    uint32_t totals[1024];
#pragma omp parallel
    {
        int64_t threads = omp_get_num_threads(), me = omp_get_thread_num();
        int64_t from = n * me / threads, to = n * (me + 1) / threads;
        uint32_t s = 0;
        for (int64_t i = from; i < to; i++)
            s += x[i];
        totals[me] = s;
#pragma omp barrier
        s = 0;
        for (int64_t t = 0; t < me; t++)
            s += totals[t];
        for (int64_t i = from; i < to; i++)
            out[i] = s += x[i];
    }
}
