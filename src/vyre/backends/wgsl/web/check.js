// Compares outputs with those of vyre's reference. Integers and truth values must be equal. Floats
// must be equal, or both be NaN, or differ by no more than the program's bound; a subnormal number
// may have become zero.
"use strict";

const VIEWS = {
  u8: Uint8Array, i8: Int8Array, u16: Uint16Array, i16: Int16Array, u32: Uint32Array, i32: Int32Array,
  u64: BigUint64Array, i64: BigInt64Array, f32: Float32Array,
};
// Bits of the fraction, and the least exponent of a normal number.
const FLOATS = { f16: [10, -14], bf16: [7, -126], f32: [23, -126] };

function halfToNumber(half) {
  const sign = half & 0x8000 ? -1 : 1, exponent = (half >> 10) & 31, fraction = half & 1023;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return exponent ? sign * (1 + fraction / 1024) * 2 ** (exponent - 15) : sign * fraction * 2 ** -24;
}

// The values that bytes of memory stand for; bytes themselves where JavaScript has no such type.
function valuesOf(type, bytes) {
  const memory = bytes.slice().buffer;
  if (type === "bool") return Array.from(bytes, (byte) => byte !== 0);
  if (type === "f16") return Array.from(new Uint16Array(memory), halfToNumber);
  if (type === "bf16") {
    return new Float32Array(Uint32Array.from(new Uint16Array(memory), (half) => half << 16).buffer);
  }
  return new (VIEWS[type] || Uint8Array)(memory);
}

// How far two floats are apart, in units of the last place of the larger one.
function distance(found, expected, type) {
  const [digits, least] = FLOATS[type];
  if (isNaN(found) && isNaN(expected)) return 0;
  const smaller = Math.min(Math.abs(found), Math.abs(expected));
  const larger = Math.max(Math.abs(found), Math.abs(expected));
  if (smaller === 0 && larger < 2 ** least) return 0;
  const apart = Math.abs(found - expected) / 2 ** (Math.max(Math.floor(Math.log2(larger)), least) - digits);
  return isNaN(apart) ? Infinity : apart;
}

// What to say about one output: { ok, text, first } with the first place that differs, or -1.
function checkOutput(output, found) {
  const expected = bytesOf(output.expected);
  if (found.every((byte, k) => byte === expected[k])) {
    return { ok: true, first: -1, text: "the same bytes as the reference" };
  }
  const [a, b] = [valuesOf(output.type, found), valuesOf(output.type, expected)];
  let worst = 0, first = -1, wrong = 0;
  for (let k = 0; k < a.length; k++) {
    if (a[k] === b[k]) continue;
    const apart = output.type in FLOATS ? distance(a[k], b[k], output.type) : Infinity;
    worst = Math.max(worst, apart);
    if (apart > output.ulps) {
      if (first < 0) first = k;
      wrong += 1;
    }
  }
  if (first < 0) {
    const text = worst ? `within ${worst.toFixed(1)} ULP of the reference; ${output.ulps} are allowed`
      : "the same values as the reference";
    return { ok: true, first, text };
  }
  const text = `element ${first} is ${a[first]} and should be ${b[first]} (${wrong} of ${a.length} differ)`;
  return { ok: false, first, text };
}

// The verdict over everything that a run gave.
function checkOutcome(outcome) {
  const checks = {};
  let problem = outcome.error;
  if (!problem && program.trap !== null) {
    if (!outcome.trap) problem = `it should have trapped: ${program.trap}`;
    else if (outcome.trap.tag !== program.trap) problem = `${outcome.trap.message}; it should have been: ${program.trap}`;
  } else if (!problem && outcome.trap) {
    problem = outcome.trap.message;
  }
  for (const output of program.trap === null ? program.outputs : []) {
    const found = outcome.outputs[output.name];
    if (!found) continue;
    const check = checks[output.name] = checkOutput(output, found);
    if (!check.ok) problem += `${problem && "; "}${output.name}: ${check.text}`;
  }
  return { passed: !problem, problem, checks };
}
