// The rule: by name, by who × considers × chooses, and its parameters on sliders.

import { element } from "../viewer/dom.js";
import { numberField, numberIn } from "../viewer/numbers.js";
import { AXES, LARGEST_TAU, LEAST_TAU, NAMED_RULES, nameOfRule } from "./settings.js";
import { significant } from "./solver/texts.js";

const POSITIONS = 200; // of the temperature's slider; the first is τ → 0
const COLD_WORDS = ["logit", "mistakes", "metropolis"];

const tauAt = (position) => LEAST_TAU * (LARGEST_TAU / LEAST_TAU) ** ((position - 1) / (POSITIONS - 1));
function positionOf(tau) {
  const part = Math.log(tau / LEAST_TAU) / Math.log(LARGEST_TAU / LEAST_TAU);
  return Math.min(POSITIONS, Math.max(1, Math.round(1 + (POSITIONS - 1) * part)));
}
const twoDigits = (value) => Number(value.toPrecision(2));

/** Build the panel; onChange gets the fields of the state that change. */
export function createRulePanel(host, onChange) {
  let state = null;
  const changeRule = (more) => onChange({ rule: { ...state.rule, ...more }, shown: null, root: null });

  const choose = () => named.value && changeRule(NAMED_RULES[named.value]);
  const named = element("select", { "aria-label": "rule", onchange: choose });
  named.append(...Object.keys(NAMED_RULES).map((name) => element("option", { value: name, text: name })));
  const own = element("option", { value: "", text: "a composition of your own" });
  named.append(own);
  host.append(field("Rule", named));

  const selects = {};
  for (const [axis, words] of Object.entries(AXES)) {
    const select = element("select", { "aria-label": axis, onchange: () => changeRule({ [axis]: select.value }) });
    const option = ([word, said]) => element("option", { value: word, text: `${word}: ${said}` });
    select.append(...Object.entries(words).map(option));
    selects[axis] = select;
    host.append(field(axis, select));
  }

  const guard = check("guard: no two that interact at once", () => changeRule({ guard: guard.box.checked }));
  const current = check("the present action may be drawn", () => changeRule({ include_current: current.box.checked }));
  const ties = check("at ties, stay", () => changeRule({ ties: ties.box.checked ? "stay" : "uniform" }));
  const inertia = slider("inertia", { min: 0, max: 0.95, step: 0.05 }, (value) => changeRule({ inertia: value }));
  host.append(guard.label, current.label, ties.label, inertia.row);

  const tau = slider("τ", { min: 0, max: POSITIONS, step: 1 }, setPosition, "temperature τ; the leftmost is τ → 0");
  tau.number.setAttribute("aria-label", "temperature τ as a number");
  tau.number.addEventListener("change", () => setTau(numberIn(tau.number)));
  const cold = check("τ → 0", () => onChange({ limit: cold.box.checked }));
  cold.label.classList.add("gs-cold");
  tau.row.append(cold.label);
  const revision = slider("revision", { min: 0.01, max: 0.99, step: 0.01 }, setRevision, "revision probability");
  revision.number.setAttribute("aria-label", "revision probability as a number");
  revision.number.addEventListener("change", () => setRevision(numberIn(revision.number)));
  host.append(tau.row, revision.row);

  function setPosition(position) {
    onChange(position === 0 ? { limit: true } : { limit: false, tau: twoDigits(tauAt(position)) });
  }
  function setTau(value) {
    if (value >= 1e-4 && value <= 1e4) onChange({ limit: false, tau: value });
    else show(state);
  }
  function setRevision(value) {
    if (value > 0 && value < 1) onChange({ revision: value });
    else show(state);
  }

  function field(text, control) {
    return element("label", { class: "gs-field" }, element("span", { text }), control);
  }

  function check(text, onchange) {
    const box = element("input", { type: "checkbox", onchange });
    return { box, label: element("label", { class: "pv-check gs-check" }, box, text) };
  }

  function slider(text, bounds, onValue, told = text) {
    const range = element("input", { type: "range", ...bounds, "aria-label": told });
    range.addEventListener("input", () => onValue(Number(range.value)));
    const number = numberField({ class: "gs-number" });
    if (text === "inertia") {
      number.setAttribute("aria-label", "inertia as a number");
      number.addEventListener("change", () => {
        const value = numberIn(number);
        if (value >= 0 && value < 1) onValue(value);
        else show(state);
      });
    }
    const name = element("span", { class: "gs-slider-name", text });
    const row = element("div", { class: "gs-slider" }, name, range, number);
    return { row, range, number };
  }

  function show(next) {
    state = next;
    const { rule } = next;
    named.value = nameOfRule(rule);
    own.hidden = Boolean(named.value);
    for (const [axis, select] of Object.entries(selects)) select.value = rule[axis];
    setDisabled(selects.chooses, "metropolis", rule.considers === "all");
    setDisabled(selects.considers, "all", rule.chooses === "metropolis");
    guard.box.checked = rule.guard;
    current.box.checked = rule.include_current;
    ties.box.checked = rule.ties === "stay";
    guard.label.hidden = rule.who === "one";
    current.label.hidden = rule.considers === "all";
    ties.label.hidden = rule.chooses !== "best";
    inertia.row.hidden = rule.chooses !== "better";
    inertia.range.value = String(rule.inertia);
    inertia.number.value = String(rule.inertia);
    const noisy = COLD_WORDS.includes(rule.chooses);
    tau.row.hidden = !noisy;
    tau.range.value = String(next.limit ? 0 : positionOf(next.tau));
    tau.range.setAttribute("aria-valuetext", next.limit ? "τ → 0" : `τ = ${significant(next.tau)}`);
    tau.number.value = next.limit ? "" : String(next.tau);
    tau.number.placeholder = "→ 0";
    cold.box.checked = next.limit;
    revision.row.hidden = rule.who !== "independent";
    revision.range.value = String(next.revision);
    revision.number.value = String(next.revision);
  }

  return { show };
}

function setDisabled(select, value, disabled) {
  for (const option of select.options) if (option.value === value) option.disabled = disabled;
}

/** What the sliders say, as the beginning of a sentence. */
export function settingWords({ rule, tau, revision, limit }) {
  const noisy = COLD_WORDS.includes(rule.chooses);
  const cold = limit ? "At τ → 0" : `At τ = ${significant(tau)}`;
  const wakes = rule.who === "independent" ? `, revision ${significant(revision)}` : "";
  return (noisy ? cold : "Without noise") + wakes;
}

/** Whether a state is shown in the limit. */
export const inLimit = ({ rule, limit }) => limit && COLD_WORDS.includes(rule.chooses);
