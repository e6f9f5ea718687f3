"""Examples of the API reference: what the host calls."""

import subprocess
import sys

import numpy as np

import vyre as vy


# %% vy.array vy.zeros vy.DeviceArray
@vy.kernel
def doubled(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    i = vy.gid()
    if i < len(x):
        y[i] = 2.0 * x[i]


x = vy.array(np.arange(4, dtype=np.float32), device="cpu")
with vy.zeros(4, np.float32, device="cpu") as y:
    doubled(x, y)  # runs where its arrays live
    assert isinstance(y, vy.DeviceArray)
    assert y.numpy().tolist() == [0, 2, 4, 6]
    y.write([1, 2, 3, 4])
    assert (y.shape, y.size, y.nbytes, len(y)) == ((4,), 4, 16, 4)
assert y.is_free and not x.is_free

# %% vy.devices
ids = [device.id for device in vy.devices() if device.available]
assert {"cpu", "reference"} <= set(ids)

# %% vy.Program
program = doubled.program()
assert isinstance(program, vy.Program)
assert vy.Program.parse(str(program)) == program
assert vy.Program.from_wire(program.to_wire()) == program
assert program.check() == []
assert [buffer.name for buffer in program.buffers][:2] == ["x", "y"]

# %% vy.run
outputs = vy.run(program, {"x": np.ones(4, np.float32)}, sizes={"y": 4})
assert outputs["y"].tolist() == [2, 2, 2, 2]

# %% vy.compile vy.CompiledProgram
compiled = vy.compile(program, device="cpu")
assert isinstance(compiled, vy.CompiledProgram)
assert compiled.device == "cpu"
assert "define" in compiled.sources()["llvm"]
print(compiled.explain())

# %% vy.profile
with vy.profile() as seen:
    for _ in range(3):
        doubled(np.ones(4, np.float32), np.zeros(4, np.float32))
assert seen.count("dispatch") == 3 and seen.total_ns("dispatch") > 0
print(seen.table())


# %% vy.VyreError
@vy.kernel
def wrong(y: vy.InOut[vy.f32]):
    i = vy.gid()
    y[i] = y[i] / len(y)


try:
    wrong(np.ones(4, np.float32))
except vy.VyreError as error:
    assert error.code == "F021"
    assert error.fix == "convert the whole number: vy.f32(len(y))"
    assert error.location.span is not None


# %% vy.plan.fuse vy.plan.Fusion vy.plan.Decision vy.plan.Hazard vy.plan.Separation
@vy.kernel
def raised(y: vy.In[vy.f32], z: vy.Out[vy.f32]):
    i = vy.gid()
    if i < len(z):
        z[i] = y[i] + y[len(y) - 1 - i]


fusion = vy.plan.fuse([doubled.program(), raised.program()], names=["double", "raise"])
outputs = vy.run(fusion.program, {"x": np.ones(4, np.float32)}, sizes={"y": 4, "z": 4})
assert outputs["z"].tolist() == [4, 4, 4, 4]
(hazard,) = fusion.decisions[1].hazards
assert (hazard.buffer, hazard.kind) == ("y", "read after write")
assert hazard.separation is vy.plan.Separation.GRID_SYNC
print(fusion.explain())


# %% vy.plan.Graph vy.plan.GraphBuffer vy.plan.GraphNode vy.plan.Role
u32 = vy.ir.DataType.U32
mirror = vy.Program.parse("""program workgroup(64, 1, 1)
buffer source: read_only u32[] @0
buffer target: read_write u32[] @1 output live_out
if gid.x < len(target) {
    target[gid.x] = source[len(source) - 1u32 - gid.x]
}
""")
graph = vy.plan.Graph.of(
    "there and back",
    [
        vy.plan.GraphBuffer("x", vy.plan.Role.INPUT, u32, 100),
        vy.plan.GraphBuffer("t", vy.plan.Role.SCRATCH, u32, 100),
        vy.plan.GraphBuffer("y", vy.plan.Role.OUTPUT, u32, 100),
    ],
    [
        vy.plan.GraphNode.of("there", mirror, {"source": "x", "target": "t"}, grid=(2, 1, 1)),
        vy.plan.GraphNode.of("back", mirror, {"source": "t", "target": "y"}, grid=(2, 1, 1)),
    ],
)
x = np.arange(100, dtype=np.uint32)
assert np.array_equal(graph.run({"x": x})["y"], x)
assert vy.plan.Graph.parse(str(graph)) == graph  # text, and bytes below
assert vy.plan.Graph.from_wire(graph.to_wire()) == graph
try:
    graph.fuse()  # each element comes from another workgroup: two launches
except vy.VyreError as error:
    assert error.code == "P209" and "L7" in str(error)

# %% vy.plan.fuse_decode_scan
decoder = vy.Program.parse("""program workgroup(64, 1, 1)
buffer text: read_only u8[] @0
buffer plain: read_write u8[256] @1 output live_out
plain[gid.x] = text[gid.x] ^ 32u8
""")
scanner = vy.Program.parse("""program workgroup(64, 1, 1)
buffer plain: read_only u8[256] @0
buffer found: read_write u32[256] @1 output live_out
found[gid.x] = u32(plain[gid.x] == 65u8)
""")
both = vy.plan.fuse_decode_scan(decoder, scanner, "plain")
assert both.buffer("plain") is None  # a value of each invocation
text = np.full(256, ord("a"), np.uint8)
assert vy.run(both, {"text": text}, grid=4)["found"].all()


# %% vy.plan.ScratchReusePlan vy.plan.ScratchPool vy.plan.Life
def reverse(source, target):
    return vy.Program.parse(f"""program workgroup(64, 1, 1)
buffer {source}: read_only u32[256] @0
buffer {target}: read_write u32[256] @1
{target}[gid.x] = {source}[255u32 - gid.x]
""")


chain = [reverse(*pair) for pair in (("x", "a"), ("a", "b"), ("b", "c"), ("c", "y"))]
fusion = vy.plan.fuse(chain, scratch=["a", "b", "c"])
reuse = vy.plan.ScratchReusePlan.build(fusion.program)
assert [pool.buffers for pool in reuse.pools] == [("a", "c"), ("b",)]  # a is dead before c is born
assert reuse.lives["a"].last < reuse.lives["c"].first
assert reuse.bytes_after < reuse.bytes_before

# %% vyre.cli.main
command = [sys.executable, "-m", "vyre", "--version"]
assert subprocess.run(command, capture_output=True, check=True).stdout.startswith(b"vyre ")

# %% vyre.config.read
settings = vy.config.read({"VYRE_DEVICE": "cpu", "VYRE_CHECK": "1", "VYRE_THREADS": "2"})
assert (settings.device, settings.check, settings.threads) == ("cpu", True, 2)
