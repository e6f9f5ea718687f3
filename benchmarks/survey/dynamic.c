#include <math.h>
#include <stdint.h>

#define LONGEST 24
#define QUERY 31

static uint32_t least(uint32_t a, uint32_t b) { return a < b ? a : b; }
static float least_f(float a, float b) { return a < b ? a : b; }
static int32_t most(int32_t a, int32_t b) { return a > b ? a : b; }

void levenshtein(const uint8_t *restrict a, const uint8_t *restrict b,
                 const uint32_t *restrict a_length, const uint32_t *restrict b_length,
                 uint32_t *restrict distance, int64_t count) {
#pragma omp parallel for
    for (int64_t i = 0; i < count; i++) {
        uint32_t row[LONGEST + 1], n = a_length[i], m = b_length[i];
        for (uint32_t k = 0; k < m + 1; k++)
            row[k] = k;
        for (uint32_t r = 0; r < n; r++) {
            uint32_t diagonal = row[0];
            row[0] = r + 1;
            for (uint32_t k = 0; k < m; k++) {
                uint32_t above = row[k + 1];
                uint32_t cost =
                    a[i * LONGEST + r] == b[i * LONGEST + k] ? diagonal : diagonal + 1;
                row[k + 1] = least(cost, least(above, row[k]) + 1);
                diagonal = above;
            }
        }
        distance[i] = row[m];
    }
}

/* The cells of diagonal d are (i, d - i), as in vyre: each diagonal may be shared among threads. */
void lcs(const uint8_t *restrict a, const uint8_t *restrict b, uint32_t *restrict table,
         int64_t rows, int64_t columns) {
    for (int64_t d = 2; d < rows + columns - 1; d++) {
        int64_t begin = d - columns + 1 > 1 ? d - columns + 1 : 1;
        int64_t end = d < rows ? d : rows;
#pragma omp parallel for
        for (int64_t i = begin; i < end; i++) {
            int64_t j = d - i;
            uint32_t *cell = table + i * columns + j;
            if (a[i - 1] == b[j - 1])
                *cell = cell[-columns - 1] + 1;
            else
                *cell = cell[-columns] > cell[-1] ? cell[-columns] : cell[-1];
        }
    }
}

void smith_waterman(int64_t gap, const uint8_t *restrict a, const uint8_t *restrict b,
                    int32_t *restrict score, int64_t rows, int64_t columns) {
    for (int64_t d = 2; d < rows + columns - 1; d++) {
        int64_t begin = d - columns + 1 > 1 ? d - columns + 1 : 1;
        int64_t end = d < rows ? d : rows;
#pragma omp parallel for
        for (int64_t i = begin; i < end; i++) {
            int64_t j = d - i;
            int32_t *cell = score + i * columns + j;
            int32_t match = a[i - 1] == b[j - 1] ? 3 : -2;
            int32_t best = most(cell[-columns - 1] + match, 0);
            best = most(best, cell[-columns] - (int32_t)gap);
            *cell = most(best, cell[-1] - (int32_t)gap);
        }
    }
}

static void knapsack_row(uint32_t weight, uint32_t value, const uint32_t *restrict before,
                         uint32_t *restrict after, int64_t n) {
#pragma omp parallel for
    for (int64_t c = 0; c < n; c++) {
        uint32_t best = before[c];
        if (c >= weight && before[c - weight] + value > best)
            best = before[c - weight] + value;
        after[c] = best;
    }
}

void knapsack(const uint32_t *weights, const uint32_t *values, uint32_t *a, uint32_t *b,
              int64_t items, int64_t n) {
    for (int64_t k = 0; k < items; k += 2) {
        knapsack_row(weights[k], values[k], a, b, n);
        knapsack_row(weights[k + 1], values[k + 1], b, a, n);
    }
}

static void viterbi_step(uint32_t seen, const float *restrict move, const float *restrict emit,
                         const float *restrict before, float *restrict after,
                         uint32_t *restrict back, int64_t n, int64_t symbols) {
#pragma omp parallel for
    for (int64_t block = 0; block < n; block += 256) {
        int64_t end = block + 256 < n ? block + 256 : n;
        for (int64_t s = block; s < end; s++) {
            after[s] = before[0] + move[s];
            back[s] = 0;
        }
        for (int64_t p = 1; p < n; p++)
            for (int64_t s = block; s < end; s++) {
                float cost = before[p] + move[p * n + s];
                if (cost < after[s]) {
                    after[s] = cost;
                    back[s] = (uint32_t)p;
                }
            }
        for (int64_t s = block; s < end; s++)
            after[s] += emit[s * symbols + seen];
    }
}

void viterbi(const uint32_t *seen, const float *move, const float *emit, float *a, float *b,
             uint32_t *back, int64_t steps, int64_t n, int64_t symbols) {
    for (int64_t t = 0; t < steps; t += 2) {
        viterbi_step(seen[t], move, emit, a, b, back + t * n, n, symbols);
        viterbi_step(seen[t + 1], move, emit, b, a, back + (t + 1) * n, n, symbols);
    }
}

void floyd_warshall(uint32_t *restrict distance, int64_t n, int64_t columns) {
    (void)columns;
    for (int64_t k = 0; k < n; k++) {
#pragma omp parallel for
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < n; j++)
                if (i != k && j != k)
                    distance[i * n + j] =
                        least(distance[i * n + j], distance[i * n + k] + distance[k * n + j]);
    }
}

void time_warp(const float *restrict query, const float *restrict series, float *restrict cost,
               int64_t n, int64_t length) {
#pragma omp parallel for
    for (int64_t i = 0; i < n; i++) {
        float row[QUERY];
        for (int64_t k = 0; k < QUERY; k++)
            row[k] = INFINITY;
        float corner = 0.0f;
        for (int64_t t = 0; t < length; t++) {
            float diagonal = corner, left = INFINITY;
            corner = INFINITY;
            for (int64_t k = 0; k < QUERY; k++) {
                float above = row[k];
                float here = fabsf(series[i * length + t] - query[k]) +
                             least_f(diagonal, least_f(above, left));
                row[k] = here;
                diagonal = above;
                left = here;
            }
        }
        cost[i] = row[QUERY - 1];
    }
}
