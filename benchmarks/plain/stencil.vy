// Five points of a row, weighted; a weight of an empty neighbourhood is left over from a template.
program workgroup(64, 1, 1)

buffer field: read_only f32[] @0
buffer weights: read_only f32[8] @1
buffer out: read_write f32[] @2

region "stencil" {
    let n = len(field)
    if gid.x < len(out) {
        let sum = 0.0f32
        for k in 0u32..5u32 {
            let at = gid.x + k
            let value = 0.0f32
            if at < n {
                value = field[at]
            } else {
                value = 0.0f32
            }
            sum = sum + value * weights[min(k, 7u32)]
        }
        for k in 0u32..0u32 {
            sum = sum + weights[k]
        }
        let largest = sum
        if sum < 0.0f32 {
            largest = 0.0f32
        }
        out[gid.x] = largest
    }
}
