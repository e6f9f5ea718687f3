/* One partial sum per work-group: a strided pass, then a tree in local memory. */
#define SUM(T, NAME)                                                                            \
    __kernel void NAME(__global const T *x, __global T *partial, uint n, __local T *tree) {     \
        uint lane = get_local_id(0);                                                            \
        T s = 0;                                                                                \
        for (uint i = get_global_id(0); i < n; i += get_global_size(0))                         \
            s += x[i];                                                                          \
        tree[lane] = s;                                                                         \
        barrier(CLK_LOCAL_MEM_FENCE);                                                           \
        for (uint stride = get_local_size(0) / 2; stride > 0; stride /= 2) {                    \
            if (lane < stride)                                                                  \
                tree[lane] += tree[lane + stride];                                              \
            barrier(CLK_LOCAL_MEM_FENCE);                                                       \
        }                                                                                       \
        if (lane == 0)                                                                          \
            partial[get_group_id(0)] = tree[0];                                                 \
    }

SUM(uint, sum_u32)
SUM(float, sum_f32)
