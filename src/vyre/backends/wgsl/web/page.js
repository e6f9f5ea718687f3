// Runs the program when the page is opened and shows what came out.
// `vyre.finished` is a promise of the outcome: { passed, problem, outputs, trap, milliseconds, ... }.
"use strict";

const vyre = {};
const element = (id) => document.getElementById(id);
const SHOWN = 8;

function shortened(value) {
  if (typeof value !== "number" || Number.isInteger(value)) return String(value);
  return String(Number(value.toPrecision(6)));
}

function excerpt(type, bytes) {
  const values = valuesOf(type, bytes);
  const head = Array.from(values.slice(0, SHOWN), shortened).join(", ");
  return values.length > SHOWN ? `${head}, …` : head;
}

function addRow(table, cells) {
  const row = table.tBodies[0].insertRow();
  for (const [text, kind] of cells) {
    const cell = row.insertCell();
    cell.textContent = text;
    if (kind) cell.className = kind;
  }
}

const described = ({ name, type, lanes, size, itemSize }) => [
  [name, "name"],
  [lanes > 1 ? `vec${lanes}<${type}>` : type],
  [(size / itemSize).toLocaleString("en"), "number"],
];

function showInputs() {
  const inputs = program.buffers.filter((buffer) => buffer.input);
  for (const buffer of inputs) {
    addRow(element("inputs"), [...described(buffer), [excerpt(buffer.type, bytesOf(buffer.input)), "values"]]);
  }
  element("inputs-part").hidden = !inputs.length;
}

function showOutputs(outcome) {
  element("outputs").tBodies[0].replaceChildren();
  for (const output of program.trap === null ? program.outputs : []) {
    const check = outcome.checks[output.name];
    const found = outcome.outputs[output.name];
    addRow(element("outputs"), [
      ...described(output),
      [found ? excerpt(output.type, found) : "–", "values"],
      [check ? `${check.ok ? "✓" : "✗"} ${check.text}` : "not computed", check && check.ok ? "good" : "bad"],
    ]);
  }
}

function show(outcome) {
  const state = element("state");
  state.className = outcome.passed ? "passed" : "failed";
  const good = program.trap === null ? "every output agrees with the reference"
    : `it stopped as the reference does: ${outcome.trap && outcome.trap.message}`;
  state.textContent = outcome.passed ? `Passed: ${good}.` : `Failed: ${outcome.problem}.`;
  element("device").textContent = outcome.device || "none";
  element("launches").textContent = String(outcome.launches || 0);
  const took = outcome.milliseconds;
  element("time").textContent = took >= 0 ? `${took.toFixed(1)} ms` : "–";
  showOutputs(outcome);
}

async function runOnce() {
  const shaders = Array.from(document.querySelectorAll("pre.shader"), (shown) => shown.textContent);
  let outcome;
  try {
    outcome = await runProgram(shaders);
  } catch (error) {
    outcome = { outputs: {}, trap: null, error: error.message };
  }
  Object.assign(outcome, checkOutcome(outcome));
  show(outcome);
  return outcome;
}

element("again").addEventListener("click", () => {
  element("state").className = "";
  element("state").textContent = "Running …";
  vyre.finished = runOnce();
});
showInputs();
vyre.finished = runOnce();
