// The game stage: a game and a rule to change, what the rule does in the long run, and why. It asks whoever answers:
// the laboratory's own solver, or the studio's server. ask(message) gives a promise of an answer; messages and answers
// are those of potentia.web.solving.

import { element, setText } from "../viewer/dom.js";
import { formatPercent } from "../viewer/format.js";
import { createAuditView, createStepView } from "./audit_view.js";
import { createChainView } from "./chain_view.js";
import { createFlowView } from "./flow_view.js";
import { createLawBars } from "./law_bars.js";
import { createLessons, LESSONS } from "./lessons.js";
import { canEdit, createPayoffTable, createSizes, listPayoffs, resized } from "./payoff_table.js";
import { profileName } from "./profiles.js";
import { createRulePanel, inLimit, settingWords } from "./rule_panel.js";
import { EXAMPLES, FIRST_STATE, messageOf, nameOfGame } from "./settings.js";
import { significant } from "./solver/texts.js";

const SIGN_WORDS = "★ maximises Φ · double ring: stable as τ → 0 · disc: share of the long run";

const column = (...children) => element("div", { class: "gs-column" }, ...children);

function panel(name, title, ...children) {
  const look = { class: `gs-panel gs-panel-${name}`, "aria-label": title };
  return element("section", look, element("h2", { text: title }), ...children);
}

/** Build the stage in host. onState(state) is told of every change. */
export function createGameStage(host, { ask, state: first = FIRST_STATE, onState = () => {}, sizes = false }) {
  const problem = element("p", { class: "pv-problem", role: "alert", hidden: true });
  const boxes = Array.from({ length: 8 }, () => element("div"));
  const [tableBox, ruleBox, chainBox, barsBox, auditBox, flowBox, lessonBox, stepBox] = boxes;
  const take = () => change({ payoffs: EXAMPLES[example.value], game: null, root: null, shown: null });
  const example = element("select", { "aria-label": "Example", onchange: () => example.value && take() });
  example.append(...Object.keys(EXAMPLES).map((name) => element("option", { value: name, text: name })));
  example.append(element("option", { value: "", text: "your own" }));
  const size = createSizes((rows, columns) => onEdit(resized(state.payoffs, rows, columns)));
  const caption = element("p", { class: "pv-quiet gs-caption", role: "status" });
  const signs = element("p", { class: "pv-quiet gs-signs", text: SIGN_WORDS });
  host.classList.add("gs");
  host.append(
    problem,
    lessonBox,
    element(
      "div",
      { class: "gs-columns" },
      column(
        panel("game", "Game", example, sizes ? size.row : null, tableBox),
        panel("rule", "Rule", ruleBox),
      ),
      column(panel("law", "The long run", barsBox, caption), panel("graph", "The chain", chainBox, signs, stepBox)),
      column(panel("why", "Does the promise hold?", auditBox), panel("flow", "Scores: QL and SOQL", flowBox)),
    ),
  );

  let state = { ...first };
  let answer = null;
  let tree = null;
  let played = { step: null, stage: "" };
  let [asking, again] = [false, false];

  const onEdit = (payoffs) => change({ payoffs, game: null, shown: null });
  const table = createPayoffTable(tableBox, { onEdit, onProblem: (sentence) => say(sentence, "typed") });
  const rulePanel = createRulePanel(ruleBox, change);
  const bars = createLawBars(barsBox, pick);
  const graph = createChainView(chainBox, pick);
  const audit = createAuditView(auditBox, (kind) => change({ shown: state.shown === kind ? null : kind, root: null }));
  const steps = createStepView(stepBox, { onStage: playStage, onClose: () => change({ shown: null }) });
  const flow = createFlowView(flowBox, { ask, onFlow: (next) => change({ flow: next }) });
  const lessons = createLessons(lessonBox, openLesson);

  /** An answer takes away what an answer said, and not what is said of something that was typed. */
  function say(sentence, about = "answer") {
    if (!sentence && problem.dataset.about !== about) return;
    problem.dataset.about = about;
    problem.hidden = !sentence;
    setText(problem, sentence);
  }

  async function openLesson(number) {
    if (number === null) return change({ lesson: null });
    const { state: next, panel: name } = LESSONS[number];
    await replace({ ...next, lesson: number });
    lessonBox.scrollIntoView({ block: "nearest" }); // opened by a key, it may lie below what is seen
    const about = next.shown ? stepBox : name && host.querySelector(`.gs-panel-${name}`);
    if (about) about.scrollIntoView({ block: "nearest" });
    return undefined;
  }

  function change(more) {
    return replace({ ...state, ...more });
  }

  function replace(next) {
    state = { ...next };
    if (state.shown !== null) state.root = null;
    showSettings();
    onState(state);
    return refresh();
  }

  function showSettings() {
    const editable = !state.game && canEdit(state.payoffs);
    if (editable) table.show(state.payoffs);
    size.show(editable ? state.payoffs : null);
    rulePanel.show(state);
    lessons.show(state.lesson);
    host.dataset.about = (state.lesson !== null && LESSONS[state.lesson].panel) || "all";
  }

  /** Press a profile: its tree; again: none. */
  function pick(place) {
    if (!answer?.stability) return;
    change({ root: state.root === place ? null : place, shown: null });
  }

  function playStage(step, stage) {
    played = { step, stage };
    if (answer) draw();
  }

  /** Asks for answers, one question at a time; what changed meanwhile is asked afterwards. */
  async function refresh() {
    again = true;
    if (asking) return refresh.done;
    asking = true;
    refresh.done = (async () => {
      while (again) {
        again = false;
        const asked = state;
        try {
          const found = await ask(messageOf(asked, "solve"));
          const rooted = asked.root !== null && found.stability && asked.root < found.law?.length;
          const leaves = rooted && found.stability.potentials[asked.root] !== null;
          const next = leaves ? await ask(messageOf(asked, "tree", { root: asked.root })) : null;
          if (again) continue;
          [answer, tree] = [found, next];
          say("");
          show();
          await flow.show(asked, found);
          flowBox.parentNode.hidden = flowBox.hidden;
        } catch (error) {
          say(`${error.message}${/[.!?]$/.test(error.message) ? "" : "."}`);
        }
      }
      asking = false;
    })();
    return refresh.done;
  }

  function show() {
    const editable = !state.game && canEdit(state.payoffs);
    example.value = editable ? nameOfGame(state.payoffs) : "";
    if (editable) table.mark(answer);
    else listPayoffs(tableBox, answer);
    const kind = state.shown && answer.counterexamples[state.shown] ? state.shown : null;
    if (!kind) played = { step: null, stage: "" };
    audit.show(answer, kind, inLimit(state) && Boolean(answer.stability));
    steps.show(kind && answer.counterexamples[kind], kind, { tau: state.tau });
    setText(caption, captionWords());
    draw();
  }

  function draw() {
    const limit = inLimit(state) && Boolean(answer.stability);
    const shares = limit ? answer.stability.limit : answer.law;
    const kind = state.shown && answer.counterexamples[state.shown] ? state.shown : null;
    const path = kind && !played.step ? answer.counterexamples[kind].path : null;
    bars.show({ shares, answer, root: state.root });
    graph.show({ answer, shares, limit, root: state.root, tree, path, ...played });
  }

  function captionWords() {
    const { actions, law, stability, maximisers } = answer;
    const limit = inLimit(state) && stability;
    const shares = limit ? stability.limit : law;
    const said = [settingWords(state)];
    if (!shares) said.push("there is no single long run");
    else if (maximisers) {
      const held = maximisers.reduce((sum, place) => sum + shares[place], 0);
      said.push(`the maximisers of Φ hold ${formatPercent(held)}`);
    } else said.push("there is no potential to maximise");
    const words = `${said.join(", ")}.`;
    if (!tree) return words;
    return `${words} The cheapest tree to ${profileName(tree.root, actions)} costs ${significant(tree.total)}.`;
  }

  new ResizeObserver(() => answer && draw()).observe(chainBox);
  showSettings();
  refresh();
  return {
    change,
    replace,
    lessons,
    say,
    get state() {
      return state;
    },
    get answer() {
      return answer;
    },
    get tree() {
      return tree;
    },
    settled: () => refresh.done,
  };
}
