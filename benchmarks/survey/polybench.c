#include <stdint.h>

void gesummv(float alpha, float beta, const float *restrict a, const float *restrict b,
             const float *restrict x, float *restrict y, int64_t n) {
#pragma omp parallel for
    for (int64_t i = 0; i < n; i++) {
        float left = 0.0f, right = 0.0f;
        for (int64_t j = 0; j < n; j++) {
            left += a[i * n + j] * x[j];
            right += b[i * n + j] * x[j];
        }
        y[i] = alpha * left + beta * right;
    }
}

void atax(const float *restrict a, const float *restrict x, float *restrict between,
          float *restrict y, int64_t rows, int64_t columns) {
#pragma omp parallel for
    for (int64_t i = 0; i < rows; i++) {
        float total = 0.0f;
        for (int64_t j = 0; j < columns; j++)
            total += a[i * columns + j] * x[j];
        between[i] = total;
    }
#pragma omp parallel for
    for (int64_t block = 0; block < columns; block += 256) {
        int64_t end = block + 256 < columns ? block + 256 : columns;
        for (int64_t j = block; j < end; j++)
            y[j] = 0.0f;
        for (int64_t i = 0; i < rows; i++)
            for (int64_t j = block; j < end; j++)
                y[j] += a[i * columns + j] * between[i];
    }
}

void syr2k(float alpha, float beta, const float *restrict a, const float *restrict b,
           float *restrict c, int64_t n, int64_t m) {
#pragma omp parallel for schedule(dynamic, 8)
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j <= i; j++) {
            float total = 0.0f;
            for (int64_t k = 0; k < m; k++)
                total += a[i * m + k] * b[j * m + k] + b[i * m + k] * a[j * m + k];
            c[i * n + j] = beta * c[i * n + j] + alpha * total;
        }
}

void doitgen(const float *restrict a, const float *restrict c4, float *restrict out, int64_t nr,
             int64_t nq, int64_t np) {
#pragma omp parallel for
    for (int64_t row = 0; row < nr * nq; row++) {
        for (int64_t p = 0; p < np; p++)
            out[row * np + p] = 0.0f;
        for (int64_t s = 0; s < np; s++)
            for (int64_t p = 0; p < np; p++)
                out[row * np + p] += a[row * np + s] * c4[s * np + p];
    }
}

void covariance(const float *restrict data, float *restrict mean, float *restrict centre,
                float *restrict cov, int64_t rows, int64_t columns) {
    for (int64_t j = 0; j < columns; j++)
        mean[j] = 0.0f;
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++)
            mean[j] += data[i * columns + j];
    for (int64_t j = 0; j < columns; j++)
        mean[j] /= (float)rows;
#pragma omp parallel for
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++)
            centre[i * columns + j] = data[i * columns + j] - mean[j];
#pragma omp parallel for schedule(dynamic, 8)
    for (int64_t i = 0; i < columns; i++) {
        float *row = cov + i * columns;
        for (int64_t j = i; j < columns; j++)
            row[j] = 0.0f;
        for (int64_t k = 0; k < rows; k++)
            for (int64_t j = i; j < columns; j++)
                row[j] += centre[k * columns + i] * centre[k * columns + j];
        for (int64_t j = i; j < columns; j++) {
            row[j] /= (float)(rows - 1);
            cov[j * columns + i] = row[j];
        }
    }
}

void fdtd_2d(int64_t steps, float *restrict ex, float *restrict ey, float *restrict hz, int64_t n,
             int64_t m) {
    for (int64_t t = 0; t < steps; t++) {
        for (int64_t j = 0; j < m; j++)
            ey[j] = (float)t;
#pragma omp parallel for
        for (int64_t i = 1; i < n; i++)
            for (int64_t j = 0; j < m; j++)
                ey[i * m + j] = ey[i * m + j] - 0.5f * (hz[i * m + j] - hz[(i - 1) * m + j]);
#pragma omp parallel for
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 1; j < m; j++)
                ex[i * m + j] = ex[i * m + j] - 0.5f * (hz[i * m + j] - hz[i * m + j - 1]);
#pragma omp parallel for
        for (int64_t i = 0; i < n - 1; i++)
            for (int64_t j = 0; j < m - 1; j++) {
                float curl = ex[i * m + j + 1] - ex[i * m + j] + ey[(i + 1) * m + j] - ey[i * m + j];
                hz[i * m + j] = hz[i * m + j] - 0.7f * curl;
            }
    }
}

static void heat_step(const float *restrict a, float *restrict b, int64_t n) {
    int64_t plane = n * n;
#pragma omp parallel for
    for (int64_t i = 1; i < n - 1; i++)
        for (int64_t j = 1; j < n - 1; j++)
            for (int64_t k = 1; k < n - 1; k++) {
                int64_t at = i * plane + j * n + k;
                float here = a[at];
                b[at] = 0.125f * (a[at + plane] - 2.0f * here + a[at - plane]) +
                        0.125f * (a[at + n] - 2.0f * here + a[at - n]) +
                        0.125f * (a[at + 1] - 2.0f * here + a[at - 1]) + here;
            }
}

void heat_3d(int64_t steps, float *a, float *b, int64_t n) {
    for (int64_t t = 0; t < steps; t++) {
        heat_step(a, b, n);
        heat_step(b, a, n);
    }
}

static void jacobi_step(const float *restrict a, float *restrict b, int64_t n) {
#pragma omp parallel for
    for (int64_t i = 1; i < n - 1; i++)
        b[i] = 0.33333f * (a[i - 1] + a[i] + a[i + 1]);
}

void jacobi_1d(int64_t steps, float *a, float *b, int64_t n) {
    for (int64_t t = 0; t < steps; t++) {
        jacobi_step(a, b, n);
        jacobi_step(b, a, n);
    }
}
