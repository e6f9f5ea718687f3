#include <math.h>
#include <stdint.h>

#define WIDTH 32
#define LARGEST 8

void bitonic_sort(uint32_t *restrict x, int64_t n) {
    for (int64_t block = 2; block <= n; block *= 2)
        for (int64_t stride = block / 2; stride > 0; stride /= 2) {
#pragma omp parallel for
            for (int64_t i = 0; i < n; i++) {
                int64_t other = i ^ stride;
                if (other > i && other < n) {
                    uint32_t a = x[i], b = x[other];
                    if ((a > b) == ((i & block) == 0)) {
                        x[i] = b;
                        x[other] = a;
                    }
                }
            }
        }
}

void insertion_rows(float *restrict x, int64_t n, int64_t width) {
#pragma omp parallel for
    for (int64_t i = 0; i < n; i++) {
        float *row = x + i * width;
        for (int64_t k = 1; k < width; k++) {
            float value = row[k];
            int64_t j = k;
            while (j > 0 && row[j - 1] > value) {
                row[j] = row[j - 1];
                j--;
            }
            row[j] = value;
        }
    }
}

void rank_sort(const float *restrict x, float *restrict out, int64_t n) {
#pragma omp parallel for
    for (int64_t i = 0; i < n; i++) {
        uint32_t rank = 0;
        for (int64_t j = 0; j < n; j++)
            if (x[j] < x[i] || (x[j] == x[i] && j < i))
                rank++;
        out[rank] = x[i];
    }
}

void merge_sorted(const uint32_t *restrict a, const uint32_t *restrict b, uint32_t *restrict out,
                  int64_t n, int64_t m) {
#pragma omp parallel for
    for (int64_t i = 0; i < n + m; i++) {
        if (i < n) {
            uint32_t value = a[i], low = 0, high = (uint32_t)m;
            while (low < high) {
                uint32_t middle = (low + high) / 2;
                if (b[middle] < value)
                    low = middle + 1;
                else
                    high = middle;
            }
            out[i + low] = value;
        } else {
            int64_t j = i - n;
            uint32_t value = b[j], low = 0, high = (uint32_t)n;
            while (low < high) {
                uint32_t middle = (low + high) / 2;
                if (a[middle] <= value)
                    low = middle + 1;
                else
                    high = middle;
            }
            out[j + low] = value;
        }
    }
}

void median_rows(const uint16_t *restrict x, uint16_t *restrict out, int64_t n) {
#pragma omp parallel for
    for (int64_t i = 0; i < n; i++) {
        uint16_t row[WIDTH];
        for (int k = 0; k < WIDTH; k++)
            row[k] = x[i * WIDTH + k];
        int low = 0, high = WIDTH - 1;
        while (low < high) {
            uint16_t pivot = row[(low + high) / 2];
            int left = low, right = high;
            while (left <= right) {
                while (row[left] < pivot)
                    left++;
                while (row[right] > pivot)
                    right--;
                if (left <= right) {
                    uint16_t kept = row[left];
                    row[left] = row[right];
                    row[right] = kept;
                    left++;
                    right--;
                }
            }
            if (WIDTH / 2 <= right)
                high = right;
            else if (WIDTH / 2 >= left)
                low = left;
            else
                break;
        }
        out[i] = row[WIDTH / 2];
    }
}

void top_k(const float *restrict x, float *restrict value, uint32_t *restrict place, int64_t n,
           int64_t width) {
#pragma omp parallel for
    for (int64_t i = 0; i < n; i++) {
        float best[LARGEST];
        uint32_t where[LARGEST] = {0};
        for (int k = 0; k < LARGEST; k++)
            best[k] = -INFINITY;
        for (int64_t j = 0; j < width; j++) {
            float v = x[i * width + j];
            if (v > best[LARGEST - 1]) {
                int k = LARGEST - 1;
                while (k > 0 && best[k - 1] < v) {
                    best[k] = best[k - 1];
                    where[k] = where[k - 1];
                    k--;
                }
                best[k] = v;
                where[k] = (uint32_t)j;
            }
        }
        for (int k = 0; k < LARGEST; k++) {
            value[i * LARGEST + k] = best[k];
            place[i * LARGEST + k] = where[k];
        }
    }
}

void lower_bound(const float *restrict table, const float *restrict wanted,
                 uint32_t *restrict place, int64_t length, int64_t n) {
#pragma omp parallel for
    for (int64_t i = 0; i < n; i++) {
        uint32_t low = 0, high = (uint32_t)length;
        while (low < high) {
            uint32_t middle = (low + high) / 2;
            if (table[middle] < wanted[i])
                low = middle + 1;
            else
                high = middle;
        }
        place[i] = low;
    }
}

void filter_chunks(const uint32_t *restrict x, const uint32_t *restrict start,
                   uint32_t *restrict kept, int64_t n, int64_t chunks) {
#pragma omp parallel for
    for (int64_t i = 0; i < chunks; i++) {
        uint32_t m = start[i];
        int64_t end = 4096 * i + 4096 < n ? 4096 * i + 4096 : n;
        for (int64_t k = 4096 * i; k < end; k++)
            if (x[k] % 4 == 0)
                kept[m++] = x[k];
    }
}
