// The audit beside the graph: hypotheses, results and what they promise; a counterexample is a button.

import { element, setText } from "../viewer/dom.js";
import { profileName } from "./profiles.js";
import { significant } from "./solver/texts.js";

const SHOWS = { "potential game": "cycle", "resistance lemma (Eq. 12)": "lemma" };
const MOST_NAMED = 4; // profiles in a sentence
const SIGNS = { true: "✓", false: "✗", null: "–" };

/** Build the audit in host; onShow(kind) is called where a counterexample is wanted. */
export function createAuditView(host, onShow) {
  const verdict = element("p", { class: "gs-verdict", role: "status" });
  const button = showButton("promise", "Show how");
  const rows = element("ul", { class: "gs-audit" });
  const findings = element("div", { class: "gs-findings" });
  const summary = element("div", { class: "gs-summary pv-quiet" });
  const hypotheses = element("details", {}, element("summary", { text: "Hypotheses" }), rows);
  host.append(verdict, button, findings, hypotheses, summary);

  function showButton(kind, text) {
    const look = { type: "button", class: "pv-text-button gs-show", "data-shows": kind, text };
    return element("button", { ...look, onclick: () => onShow(kind) });
  }

  function rowOf({ hypothesis, holds, evidence }, counterexamples) {
    const kind = SHOWS[hypothesis];
    const shows = kind && counterexamples[kind] && holds === false ? showButton(kind, "Show it") : null;
    const sign = element("span", { class: `gs-sign gs-${holds}`, "aria-hidden": "true", text: SIGNS[holds] });
    const name = element("b", { text: `${hypothesis} ` });
    const said = element("span", { class: "pv-hidden", text: holds ? "holds: " : "fails: " });
    const why = element("span", { class: "pv-quiet", text: evidence });
    return element("li", {}, sign, element("div", {}, name, said, why, shows));
  }

  function findingOf(finding, counterexamples) {
    const kind = SHOWS[finding.result];
    const shows = kind && counterexamples[kind] ? showButton(kind, "Show it") : null;
    const holds = finding.applies ? finding.kept : null;
    const sign = element("span", { class: `gs-sign gs-${holds}`, "aria-hidden": "true", text: SIGNS[holds] });
    const lines = [
      element("b", { text: `${finding.result}: ${finding.verdict}` }),
      finding.lacks.length ? element("p", { text: `lacks ${finding.lacks.join("; ")}` }) : null,
      element("p", { text: `promises that ${finding.promises}` }),
      element("p", { text: `found: ${finding.found}` }),
      shows,
    ];
    return element("div", { class: "gs-finding" }, sign, element("div", {}, ...lines));
  }

  return {
    /** Shows an answer; `shown` is the counterexample that is played, `limit` whether τ → 0 is seen. */
    show(answer, shown, limit) {
      const { promise, audit, counterexamples, trouble, classes } = answer;
      setText(verdict, verdictWords(answer));
      verdict.classList.toggle("gs-broken", promise?.kept === false);
      verdict.classList.toggle("gs-kept", promise?.kept === true);
      button.hidden = !counterexamples.promise;
      findings.replaceChildren(...audit.findings.map((finding) => findingOf(finding, counterexamples)));
      if (!audit.findings.length) {
        findings.append(element("p", { class: "pv-quiet", text: "No result of the paper is about this rule." }));
      }
      rows.replaceChildren(...audit.rows.map((row) => rowOf(row, counterexamples)));
      const lines = trouble ? [capitalised(trouble), classWords(answer, classes)] : audit.summary.filter((text) => !limit || !text.startsWith("At τ = "));
      summary.replaceChildren(...lines.filter(Boolean).map((text) => element("p", { text })));
      for (const one of host.querySelectorAll(".gs-show")) {
        one.setAttribute("aria-pressed", String(one.dataset.shows === shown));
        setText(one, one.dataset.shows === shown ? "Hide it" : one === button ? "Show how" : "Show it");
      }
    },
  };
}

const capitalised = (text) => `${text[0].toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? "" : "."}`;

function namesOf(places, actions) {
  const names = places.slice(0, MOST_NAMED).map((place) => profileName(place, actions)).join(", ");
  return places.length > MOST_NAMED ? `${names} and ${places.length - MOST_NAMED} more` : names;
}

function classWords({ actions, law }, classes) {
  if (law) return "";
  const sets = classes.slice(0, 8).map((some) => `{${namesOf(some, actions)}}`).join(" or ");
  return `Play ends in ${sets}, depending on where it starts.`;
}

/** Whether stable profiles are the maximisers, in a sentence. */
function verdictWords({ promise, potential, stability, maximisers, actions }) {
  if (!potential) return "This game has no potential: nothing for a theorem to maximise.";
  if (!stability) return `The potential is largest at ${namesOf(maximisers, actions)}.`;
  const best = namesOf(maximisers, actions);
  if (promise.kept) return `The promise holds: exactly the maximisers of the potential, ${best}, are stable.`;
  const stable = namesOf(stability.stable, actions);
  const are = stability.stable.length > 1 ? "are" : "is";
  return `The promise is broken: Φ is largest at ${best}, yet ${stable} ${are} stable.`;
}

/** The step of a counterexample, one sentence at a time. */
export function createStepView(host, { onStage, onClose }) {
  const title = element("h3");
  const list = element("ol", { class: "gs-step-words", "aria-live": "polite" });
  const button = (text, onclick) => element("button", { type: "button", class: "pv-text-button", text, onclick });
  const [next, again, close] = [
    button("Next", () => go(at + 1)),
    button("Again", () => go(0)),
    button("Close", () => onClose()),
  ];
  next.classList.add("gs-next");
  const chance = element("p", { class: "pv-quiet" });
  const look = { class: "gs-step", hidden: true, "aria-label": "The counterexample" };
  const box = element("section", look, title, list, chance);
  box.append(element("div", { class: "gs-row" }, next, again, close));
  host.append(box);
  let [step, at, key] = [null, 0, ""];

  function go(to) {
    at = Math.min(to, step.words.length - 1);
    list.replaceChildren(...step.words.slice(0, at + 1).map((text) => element("li", { text })));
    const last = at === step.words.length - 1;
    next.disabled = last;
    if (last && document.activeElement === document.body) again.focus();
    chance.hidden = !last;
    onStage(step, at === 0 ? "woke" : last ? "done" : "tried");
  }

  return {
    /** Shows a counterexample, or none. */
    show(example, kind, { tau }) {
      const wanted = example ? `${kind} ${JSON.stringify(example)}` : "";
      if (wanted === key) return;
      key = wanted;
      box.hidden = !example;
      if (!example) return;
      setText(title, example.title);
      [next, again].forEach((button) => (button.hidden = !example.step));
      list.replaceChildren();
      chance.hidden = true;
      ({ step } = example);
      if (!step) return;
      const where = tau ? ` at τ = ${significant(tau)}` : "";
      setText(chance, `This very way has probability ${significant(step.probability)}${where}.`);
      go(0);
    },
  };
}
