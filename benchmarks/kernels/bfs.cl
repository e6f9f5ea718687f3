__kernel void start(__global uint *levels) {
    uint node = get_global_id(0);
    levels[node] = node == 0 ? 0 : UINT_MAX;
}

__kernel void sweep(__global const uint *starts, __global const uint *targets,
                    __global uint *levels, __global uint *more, uint level) {
    uint node = get_global_id(0);
    if (levels[node] != level)
        return;
    for (uint edge = starts[node]; edge < starts[node + 1]; edge++) {
        uint next = targets[edge];
        if (levels[next] == UINT_MAX) {
            levels[next] = level + 1;
            *more = level + 1;
        }
    }
}
