// Runs the program of program.js on WebGPU and compares what it gives with what it should give.
// `vyre.finished` is a promise of the outcome: { passed, problem, outputs, milliseconds }.
"use strict";

const vyre = {};

const bytesOf = (text) => Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
const padded = (size) => Math.max(16, Math.ceil(size / 16) * 16);

async function openDevice() {
  if (!navigator.gpu) throw new Error("this browser has no WebGPU");
  const adapter = await navigator.gpu.requestAdapter();
  if (!adapter) throw new Error("WebGPU found no device");
  const device = await adapter.requestDevice();
  device.addEventListener("uncapturederror", (event) => { vyre.deviceError = event.error.message; });
  return device;
}

function makeBuffer(device, size, usage, bytes) {
  const buffer = device.createBuffer({ size: padded(size), usage, mappedAtCreation: Boolean(bytes) });
  if (bytes) {
    new Uint8Array(buffer.getMappedRange()).set(bytes);
    buffer.unmap();
  }
  return buffer;
}

function makeBuffers(device) {
  const usage = GPUBufferUsage.STORAGE | GPUBufferUsage.UNIFORM | GPUBufferUsage.COPY_SRC;
  return program.buffers.map(({ size, input }) =>
    makeBuffer(device, size, usage, input && bytesOf(input)));
}

function bindings(device, buffers) {
  const bound = program.bindings.map((place) => buffers[place]);
  if (program.record.length) {
    const record = new Uint8Array(new Uint32Array(program.record).buffer);
    bound.push(makeBuffer(device, record.length, GPUBufferUsage.UNIFORM, record));
  }
  const own = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC;
  const trap = program.tags.length ? makeBuffer(device, 16, own) : null;
  if (trap) bound.push(trap);
  if (program.lockBytes) bound.push(makeBuffer(device, program.lockBytes, own));
  return { bound, trap };
}

async function read(device, buffer, size) {
  const usage = GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST;
  const staging = makeBuffer(device, size, usage);
  const encoder = device.createCommandEncoder();
  encoder.copyBufferToBuffer(buffer, 0, staging, 0, padded(size));
  device.queue.submit([encoder.finish()]);
  await staging.mapAsync(GPUMapMode.READ);
  return new Uint8Array(staging.getMappedRange()).slice(0, size);
}

async function run(device) {
  const module = device.createShaderModule({ code: program.shader });
  const pipeline = await device.createComputePipelineAsync({
    layout: "auto", compute: { module, entryPoint: "main" },
  });
  const buffers = makeBuffers(device);
  const { bound, trap } = bindings(device, buffers);
  const group = device.createBindGroup({
    layout: pipeline.getBindGroupLayout(0),
    entries: bound.map((buffer, binding) => ({ binding, resource: { buffer } })),
  });
  const started = performance.now();
  const encoder = device.createCommandEncoder();
  const pass = encoder.beginComputePass();
  pass.setPipeline(pipeline);
  pass.setBindGroup(0, group);
  pass.dispatchWorkgroups(...program.grid);
  pass.end();
  device.queue.submit([encoder.finish()]);
  await device.queue.onSubmittedWorkDone();
  const milliseconds = performance.now() - started;
  if (trap) {
    const [tag, x, y, z] = new Uint32Array((await read(device, trap, 16)).buffer);
    if (tag) throw new Error(`invocation (${x}, ${y}, ${z}) trapped: ${program.tags[tag - 1]}`);
  }
  const outputs = {};
  for (const output of program.outputs) {
    outputs[output.name] = await read(device, buffers[output.buffer], output.size);
  }
  return { outputs, milliseconds };
}

// The floats that the bytes of a buffer hold, or null when they are compared byte by byte.
function floats(bytes, kind) {
  if (kind === "f32") return new Float32Array(bytes.buffer);
  if (kind === "bf16") {
    const wide = new Uint32Array(new Uint16Array(bytes.buffer)).map((half) => half << 16);
    return new Float32Array(wide.buffer);
  }
  if (kind === "f16") {
    return Float64Array.from(new Uint16Array(bytes.buffer), (half) => {
      const sign = half & 0x8000 ? -1 : 1, exponent = (half >> 10) & 31, fraction = half & 1023;
      if (exponent === 31) return fraction ? NaN : sign * Infinity;
      return exponent ? sign * (1 + fraction / 1024) * 2 ** (exponent - 15) : sign * fraction * 2 ** -24;
    });
  }
  return null;
}

const DIGITS = { f16: [10, -14], bf16: [7, -126], f32: [23, -126] };

function close(found, expected, kind, ulps) {
  if (Object.is(found, expected) || (isNaN(found) && isNaN(expected))) return true;
  const [digits, least] = DIGITS[kind];
  if (found === 0 && Math.abs(expected) < 2 ** least) return true;
  const size = Math.max(Math.abs(found), Math.abs(expected));
  const unit = 2 ** (Math.max(Math.floor(Math.log2(size)), least) - digits);
  return ulps > 0 && Math.abs(found - expected) <= ulps * unit;
}

function firstDifference(found, output) {
  const expected = bytesOf(output.expected);
  const [a, b] = [floats(found, output.kind), floats(expected, output.kind)];
  const same = a ? (k) => close(a[k], b[k], output.kind, output.ulps) : (k) => found[k] === expected[k];
  const count = a ? a.length : found.length;
  for (let k = 0; k < count; k++) {
    if (!same(k)) {
      const [is, should] = a ? [a[k], b[k]] : [found[k], expected[k]];
      return `${a ? "element" : "byte"} ${k} is ${is} and should be ${should}`;
    }
  }
  return null;
}

function show(outcome) {
  const state = document.getElementById("state");
  const took = outcome.milliseconds === undefined ? "" : ` in ${outcome.milliseconds.toFixed(1)} ms`;
  state.className = outcome.passed ? "passed" : "failed";
  state.textContent = outcome.passed ? `Passed${took}: all outputs are right.` : `Failed: ${outcome.problem}`;
  const table = document.getElementById("outputs");
  for (const [name, bytes] of Object.entries(outcome.outputs || {})) {
    const row = table.insertRow();
    row.insertCell().textContent = name;
    row.insertCell().textContent = `${bytes.length} bytes`;
    row.insertCell().textContent = outcome.differences[name] || "as expected";
  }
}

vyre.finished = (async () => {
  const outcome = { passed: false, problem: "", differences: {} };
  try {
    Object.assign(outcome, await run(await openDevice()));
    for (const output of program.outputs) {
      const difference = firstDifference(outcome.outputs[output.name], output);
      if (difference) outcome.differences[output.name] = difference;
    }
    const wrong = Object.entries(outcome.differences).map(([name, text]) => `${name}: ${text}`);
    outcome.problem = vyre.deviceError || wrong.join("; ");
    outcome.passed = !outcome.problem;
  } catch (error) {
    outcome.problem = vyre.deviceError || error.message;
  }
  show(outcome);
  return outcome;
})();
