"""vyre on a WebGPU device beside programs for it that were written by hand with wgpu-py."""
