// Runs the program of program.js on WebGPU: shaders come from the page, memory and the order of
// launches from `program`. Nothing is fetched, so the page also works when opened from a disk.
"use strict";

const bytesOf = (text) => Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
const padded = (size) => Math.max(16, Math.ceil(size / 16) * 16);

class Trap extends Error {
  constructor(tag, invocation) {
    super(`invocation (${invocation.join(", ")}) trapped: ${tag}`);
    Object.assign(this, { tag, invocation });
  }
}

async function openDevice() {
  if (!navigator.gpu) throw new Error("this browser has no WebGPU");
  const adapter = await navigator.gpu.requestAdapter();
  if (!adapter) throw new Error("WebGPU found no device");
  const device = await adapter.requestDevice();
  const { vendor, architecture, description } = adapter.info || {};
  return { device, name: description || [vendor, architecture].filter(Boolean).join(" ") || "unnamed" };
}

class Runner {
  constructor(device, shaders) {
    Object.assign(this, { device, shaders, launches: 0 });
    this.own = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST;
    this.buffers = program.buffers.map(({ size, input }) =>
      this.makeBuffer(size, this.own | GPUBufferUsage.UNIFORM, input && bytesOf(input)));
  }

  makeBuffer(size, usage, bytes) {
    const buffer = this.device.createBuffer({ size: padded(size), usage, mappedAtCreation: Boolean(bytes) });
    if (bytes) {
      new Uint8Array(buffer.getMappedRange()).set(bytes);
      buffer.unmap();
    }
    return buffer;
  }

  // Compiles a segment and binds its memory. The order is the one that the shader declares.
  async prepare(segment, shader) {
    const module = this.device.createShaderModule({ code: shader });
    const pipeline = await this.device.createComputePipelineAsync({
      layout: "auto", compute: { module, entryPoint: "main" },
    });
    const bound = segment.bindings.map(({ buffer, size }) => ({ buffer: this.buffers[buffer], size }));
    if (segment.record.length) {
      const record = new Uint8Array(new Uint32Array(segment.record).buffer);
      bound.push({ buffer: this.makeBuffer(record.length, GPUBufferUsage.UNIFORM, record) });
    }
    const trap = segment.tags.length ? this.makeBuffer(16, this.own) : null;
    if (trap) bound.push({ buffer: trap });
    if (segment.lockBytes) bound.push({ buffer: this.makeBuffer(segment.lockBytes, this.own) });
    const group = this.device.createBindGroup({
      layout: pipeline.getBindGroupLayout(0),
      entries: bound.map((resource, binding) => ({ binding, resource })),
    });
    return { ...segment, pipeline, group, trap };
  }

  submit(record) {
    const encoder = this.device.createCommandEncoder();
    record(encoder);
    this.device.queue.submit([encoder.finish()]);
  }

  async read(buffer, size) {
    const staging = this.makeBuffer(size, GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST);
    this.submit((encoder) => encoder.copyBufferToBuffer(buffer, 0, staging, 0, padded(size)));
    await staging.mapAsync(GPUMapMode.READ);
    const bytes = new Uint8Array(staging.getMappedRange()).slice(0, size);
    staging.destroy();
    return bytes;
  }

  clear(place) {
    this.submit((encoder) => encoder.clearBuffer(this.buffers[place]));
  }

  async exitSignal() {
    return new Uint32Array((await this.read(this.buffers[program.exit], 4)).buffer)[0];
  }

  async run() {
    this.segments = await Promise.all(program.segments.map((segment, k) =>
      segment && this.prepare(segment, this.shaders[segment.shader])));
    const started = performance.now();
    await this.steps(program.steps);
    await this.device.queue.onSubmittedWorkDone();
    return performance.now() - started;
  }

  // What follows mirrors how vyre itself runs a program that was cut at barriers over the grid:
  // 1 leaves the loop around the steps, 2 begins its next round.
  async steps(steps) {
    for (const step of steps) {
      const signal = await this[step.do](step);
      if (signal) return signal;
    }
    return 0;
  }

  async launch({ segment: number, leaves }) {
    const segment = this.segments[number];
    if (!segment) return 0;
    if (leaves) this.clear(program.exit);
    this.submit((encoder) => {
      const pass = encoder.beginComputePass();
      pass.setPipeline(segment.pipeline);
      pass.setBindGroup(0, segment.group);
      pass.dispatchWorkgroups(...segment.grid);
      pass.end();
    });
    this.launches += 1;
    if (segment.trap) {
      const [tag, ...invocation] = new Uint32Array((await this.read(segment.trap, 16)).buffer);
      if (tag) throw new Trap(segment.tags[tag - 1], invocation);
    }
    return leaves ? this.exitSignal() : 0;
  }

  async copy({ source, destination, size }) {
    const [from, to] = [this.buffers[source], this.buffers[destination]];
    const whole = size - (size % 4);
    if (whole) this.submit((encoder) => encoder.copyBufferToBuffer(from, 0, to, 0, whole));
    if (whole < size) {
      const [head, tail] = [await this.read(from, size), await this.read(to, whole + 4)];
      tail.set(head.subarray(whole), whole);
      this.device.queue.writeBuffer(to, whole, tail, whole);
    }
  }

  async wipe({ buffers }) {
    for (const place of buffers) this.clear(place);
  }

  async count({ variable, signed, bounds, bySegment, steps }) {
    let [start, stop] = bounds.map(BigInt);
    if (bySegment !== null) {
      this.clear(program.bounds);
      await this.launch({ segment: bySegment });
      const words = (await this.read(this.buffers[program.bounds], 16)).buffer;
      [start, stop] = signed ? new BigInt64Array(words) : new BigUint64Array(words);
    }
    for (let value = start; value < stop; value++) {
      const word = new BigInt64Array([BigInt.asIntN(64, value)]);
      this.device.queue.writeBuffer(this.buffers[variable], 0, word);
      if (await this.steps(steps) === 1) return;
    }
  }

  async repeat({ condition, steps }) {
    while (true) {
      this.clear(program.exit);
      await this.launch({ segment: condition });
      if (!await this.exitSignal() || await this.steps(steps) === 1) return;
    }
  }
}

// Runs everything once: what came out, how long it took, and what went wrong.
async function runProgram(shaders) {
  const { device, name } = await openDevice();
  let lost = "";
  device.lost.then((info) => { lost = `the device was lost: ${info.message}`; });
  const outcome = { device: name, outputs: {}, trap: null, error: "", milliseconds: NaN, launches: 0 };
  device.pushErrorScope("validation");
  const runner = new Runner(device, shaders);
  try {
    outcome.milliseconds = await runner.run();
    for (const output of program.outputs) {
      outcome.outputs[output.name] = await runner.read(runner.buffers[output.buffer], output.size);
    }
  } catch (error) {
    if (error instanceof Trap) outcome.trap = error;
    else outcome.error = lost || error.message;
  }
  outcome.launches = runner.launches;
  const invalid = lost ? null : await device.popErrorScope();
  if (invalid) outcome.error = invalid.message;
  device.destroy();
  return outcome;
}
