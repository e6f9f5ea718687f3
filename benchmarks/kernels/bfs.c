#include <stdint.h>
#include <string.h>

/* One sweep over all nodes per level; nodes of this level mark their unseen neighbours. */
void bfs(const uint32_t *starts, const uint32_t *targets, uint32_t *levels, int64_t n) {
    memset(levels, 0xff, (size_t)n * sizeof *levels);
    levels[0] = 0;
    int more = 1;
    for (uint32_t level = 0; more; level++) {
        more = 0;
#pragma omp parallel for reduction(| : more) schedule(dynamic, 4096)
        for (int64_t node = 0; node < n; node++) {
            if (levels[node] != level)
                continue;
            for (uint32_t edge = starts[node]; edge < starts[node + 1]; edge++) {
                uint32_t *next = &levels[targets[edge]];
                if (*next == UINT32_MAX) {
                    *next = level + 1;
                    more = 1;
                }
            }
        }
    }
}
