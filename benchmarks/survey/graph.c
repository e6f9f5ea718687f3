#include <stdint.h>

#define FAR 0xFFFFFFFFu

static void rank_step(const uint32_t *restrict first, const uint32_t *restrict source,
                      const uint32_t *restrict degree, const float *restrict before,
                      float *restrict after, int64_t n) {
#pragma omp parallel for
    for (int64_t v = 0; v < n; v++) {
        float total = 0.0f;
        for (uint32_t e = first[v]; e < first[v + 1]; e++) {
            uint32_t u = source[e];
            total += before[u] / (float)degree[u];
        }
        after[v] = 0.15f / (float)n + 0.85f * total;
    }
}

void pagerank(int64_t steps, const uint32_t *first, const uint32_t *source, const uint32_t *degree,
              float *rank, float *other, int64_t n) {
    for (int64_t t = 0; t < steps; t++) {
        rank_step(first, source, degree, rank, other, n);
        rank_step(first, source, degree, other, rank, n);
    }
}

/* With threads, two vertices may relax the same one, so the minimum is an atomic as in vyre. */
static void atomic_min(uint32_t *place, uint32_t value) {
    uint32_t seen = __atomic_load_n(place, __ATOMIC_RELAXED);
    while (value < seen && !__atomic_compare_exchange_n(place, &seen, value, 1, __ATOMIC_RELAXED,
                                                        __ATOMIC_RELAXED))
        ;
}

static void relax(const uint32_t *restrict first, const uint32_t *restrict target,
                  const uint32_t *restrict weight, const uint32_t *restrict before,
                  uint32_t *restrict after, int64_t n) {
#pragma omp parallel for
    for (int64_t v = 0; v < n; v++)
        if (before[v] != FAR)
            for (uint32_t e = first[v]; e < first[v + 1]; e++)
                atomic_min(&after[target[e]], before[v] + weight[e]);
}

void sssp(int64_t steps, const uint32_t *first, const uint32_t *target, const uint32_t *weight,
          uint32_t *distance, uint32_t *next_distance, int64_t n) {
    for (int64_t t = 0; t < steps; t++) {
        relax(first, target, weight, distance, next_distance, n);
        relax(first, target, weight, next_distance, distance, n);
    }
}

static void smallest_label(const uint32_t *restrict first, const uint32_t *restrict target,
                           const uint32_t *restrict before, uint32_t *restrict after, int64_t n) {
#pragma omp parallel for
    for (int64_t v = 0; v < n; v++) {
        uint32_t label = before[v];
        for (uint32_t e = first[v]; e < first[v + 1]; e++)
            if (before[target[e]] < label)
                label = before[target[e]];
        after[v] = label;
    }
}

void components(int64_t steps, const uint32_t *first, const uint32_t *target, uint32_t *label,
                uint32_t *other, int64_t n) {
    for (int64_t t = 0; t < steps; t++) {
        smallest_label(first, target, label, other, n);
        smallest_label(first, target, other, label, n);
    }
}

void triangles(const uint32_t *restrict first, const uint32_t *restrict target,
               uint32_t *restrict count, int64_t n) {
#pragma omp parallel for
    for (int64_t v = 0; v < n; v++) {
        uint32_t found = 0;
        for (uint32_t e = first[v]; e < first[v + 1]; e++) {
            uint32_t u = target[e];
            if (u > v) {
                uint32_t a = e + 1, b = first[u];
                while (a < first[v + 1] && b < first[u + 1]) {
                    if (target[a] == target[b]) {
                        found++;
                        a++;
                        b++;
                    } else if (target[a] < target[b]) {
                        a++;
                    } else {
                        b++;
                    }
                }
            }
        }
        count[v] = found;
    }
}

void spmv(const uint32_t *restrict first, const uint32_t *restrict column,
          const float *restrict value, const float *restrict x, float *restrict y, int64_t n) {
#pragma omp parallel for
    for (int64_t row = 0; row < n; row++) {
        float total = 0.0f;
        for (uint32_t e = first[row]; e < first[row + 1]; e++)
            total += value[e] * x[column[e]];
        y[row] = total;
    }
}

static void bottom_up(uint32_t level, const uint32_t *restrict first,
                      const uint32_t *restrict target, const uint32_t *restrict distance,
                      uint32_t *restrict reached, int64_t n) {
#pragma omp parallel for
    for (int64_t v = 0; v < n; v++) {
        if (distance[v] == FAR) {
            for (uint32_t e = first[v]; e < first[v + 1]; e++)
                if (distance[target[e]] == level) {
                    reached[v] = level + 1;
                    break;
                }
        } else {
            reached[v] = distance[v];
        }
    }
}

void bfs_bottom_up(int64_t steps, const uint32_t *first, const uint32_t *target,
                   uint32_t *distance, uint32_t *other, int64_t n) {
    for (int64_t level = 0; level < 2 * steps; level += 2) {
        bottom_up((uint32_t)level, first, target, distance, other, n);
        bottom_up((uint32_t)level + 1, first, target, other, distance, n);
    }
}

void jaccard(const uint32_t *restrict first, const uint32_t *restrict target,
             const uint32_t *restrict pairs, float *restrict share, int64_t n) {
#pragma omp parallel for
    for (int64_t i = 0; i < n; i++) {
        uint32_t u = pairs[2 * i], v = pairs[2 * i + 1];
        if (first[u + 1] - first[u] > first[v + 1] - first[v]) {
            uint32_t kept = u;
            u = v;
            v = kept;
        }
        uint32_t common = 0;
        for (uint32_t e = first[u]; e < first[u + 1]; e++) {
            uint32_t low = first[v], high = first[v + 1];
            while (low < high) {
                uint32_t middle = (low + high) / 2;
                if (target[middle] < target[e])
                    low = middle + 1;
                else
                    high = middle;
            }
            if (low < first[v + 1] && target[low] == target[e])
                common++;
        }
        uint32_t both = first[u + 1] - first[u] + first[v + 1] - first[v] - common;
        share[i] = (float)common / (float)(both > 1 ? both : 1);
    }
}

void find_roots(const uint32_t *restrict parent, uint32_t *restrict root, int64_t n) {
#pragma omp parallel for
    for (int64_t i = 0; i < n; i++) {
        uint32_t node = (uint32_t)i;
        while (parent[node] != node)
            node = parent[node];
        root[i] = node;
    }
}
