// Brightness and saturation of packed pixels, by two functions that each unpack them again.
program workgroup(64, 1, 1)

buffer pixels: read_only u32[] @0
buffer bright: read_write u32[] @1
buffer vivid: read_write u32[] @2

if gid.x < len(pixels) {
    if gid.x < len(bright) {
        if gid.x < len(vivid) {
            let luma = 0u32
            region "brightness" {
                let red = pixels[gid.x] & 255u32
                let green = pixels[gid.x] >> 8u32 & 255u32
                let blue = pixels[gid.x] >> 16u32 & 255u32
                let alpha = pixels[gid.x] >> 24u32
                luma = (red * 77u32 + green * 150u32 + blue * 29u32) / 256u32
            }
            bright[gid.x] = luma
            let saturation = 0u32
            region "saturation" {
                let red = pixels[gid.x] & 255u32
                let green = pixels[gid.x] >> 8u32 & 255u32
                let blue = pixels[gid.x] >> 16u32 & 255u32
                let alpha = pixels[gid.x] >> 24u32
                saturation = max(red, max(green, blue)) - min(red, min(green, blue))
            }
            vivid[gid.x] = saturation
        }
    }
}
