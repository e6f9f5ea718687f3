// The median of every sample and the two on each side of it, for salt and pepper in a signal.
program workgroup(64, 1, 1)

buffer samples: read_only u32[] @0
buffer smooth: read_write u32[] @1
buffer window: local u32[5]

let i = gid.x
if i + 4u32 < len(samples) {
    for k in 0u32..5u32 {
        window[k] = samples[i + k]
    }
    for round in 0u32..3u32 {
        for k in 0u32..4u32 {
            let low = min(window[k], window[k + 1u32])
            let high = max(window[k], window[k + 1u32])
            window[k] = low
            window[k + 1u32] = high
        }
    }
    smooth[i] = window[2]
}
