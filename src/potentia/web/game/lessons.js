// Five guided states: a few sentences each, and one thing to try.

import { element, setText } from "../viewer/dom.js";
import { EXAMPLES, FIRST_STATE, NAMED_RULES } from "./settings.js";

/** `panel` is what the lesson is about, where that is not the long run. */
function lesson(title, words, attempt, state, panel = "") {
  return { title, words, attempt, state: { ...FIRST_STATE, ...state }, panel };
}

export const LESSONS = [
  lesson(
    "What τ does",
    [
      "Two hunters go for the stag (action 0) or for hares (action 1). They revise one at a time and choose by the " +
        "logit map: at a high τ almost at random, and no profile is much likelier than another.",
      "The long run is e^(Φ/τ): the colder, the more of it is where the potential Φ (★) is largest. That is " +
        "hunting hares, (1, 1), not the stag.",
    ],
    "Drag τ to the left until (1, 1) holds 90\u202f%.",
    { payoffs: EXAMPLES["stag-hunt"], rule: NAMED_RULES.lll, tau: 5 },
  ),
  lesson(
    "Stochastically stable",
    [
      "As τ → 0 each move has a resistance: what its player loses by it. Dashed arrows cost something, bold " +
        "ones nothing.",
      "A tree leads everybody to one profile. The profile whose cheapest tree is the cheapest of all is stable:" +
        " it keeps the long run.",
    ],
    "Press (0, 0) and then (1, 1), and compare what their trees cost.",
    { payoffs: EXAMPLES["stag-hunt"], rule: NAMED_RULES.blll, tau: 0.3, limit: true },
  ),
  lesson(
    "Why joint trials break the theorem",
    [
      "Φ is largest at (1, 0), and no player alone would leave it. But in P-SBLLL both may wake and try (0, 1) " +
        "together: each compares 2 with 3 and goes.",
      "Back again somebody has to lose. So the maximiser holds 8.5\u202f% of the long run, and nothing as τ → 0.",
    ],
    "Press Next, under the chain, to play the step. Then let considers be “trial”, where each tries alone.",
    { rule: NAMED_RULES["p-sblll, joint"], tau: 0.3, revision: 0.5, shown: "promise" },
  ),
  lesson(
    "What the revision probability does",
    [
      "The same game at τ = 0.3. With revision 0.01 two players hardly ever wake at once, so joint trials are " +
        "rare and the maximiser (1, 0) holds 75.7\u202f%.",
      "That is about this temperature only: as τ → 0 any fixed revision probability ends at (0, 1).",
    ],
    "Drag revision to 0.5 and see 75.7\u202f% become 8.5\u202f%. Then set it back and check τ → 0.",
    { rule: NAMED_RULES["p-sblll, joint"], tau: 0.3, revision: 0.01 },
  ),
  lesson(
    "QL against SOQL",
    [
      "Now players keep scores. Player 0's second action is never better than its first, and sometimes worse: " +
        "it is weakly dominated.",
      "Q-learning adds up payoffs once (order 1): from the middle, the second action keeps a third of the play for " +
        "ever. Second-order Q-learning adds them up twice, and it dies.",
    ],
    "In the phase portrait, press anywhere to start from there: where QL ends depends on the start; SOQL goes to the " +
      "right border from everywhere.",
    {
      payoffs: EXAMPLES["weakly dominated"],
      rule: NAMED_RULES.lll,
      flow: { ...FIRST_STATE.flow, start: [[0.5, 0.5], [0.5, 0.5]] },
    },
    "flow",
  ),
];

/** Build the list of lessons; onLesson(number), or null, is called where one is opened or closed. */
export function createLessons(host, onLesson) {
  const buttons = LESSONS.map(({ title }, k) => {
    const look = { type: "button", class: "pv-text-button", "aria-pressed": "false", text: `${k + 1} ${title}` };
    return element("button", { ...look, onclick: () => onLesson(shown === k ? null : k) });
  });
  const heading = element("h2");
  const words = element("div");
  const attempt = element("p", { class: "gs-try" });
  const text = element("div", { class: "gs-lesson", hidden: true, "aria-live": "polite" }, heading, words, attempt);
  host.append(element("div", { class: "gs-lessons", role: "group", "aria-label": "Lessons" }, ...buttons), text);

  let shown = null;

  /** Show the words of a lesson, or none. */
  function show(number) {
    if (number === shown) return;
    shown = number;
    buttons.forEach((button, k) => button.setAttribute("aria-pressed", String(k === number)));
    text.hidden = number === null;
    if (number === null) return;
    const chosen = LESSONS[number];
    setText(heading, chosen.title);
    words.replaceChildren(...chosen.words.map((said) => element("p", { text: said })));
    attempt.replaceChildren(element("b", { text: "Try: " }), chosen.attempt);
  }
  return { show, open: onLesson };
}
