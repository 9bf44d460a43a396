// The long run as bars, a profile each.

import { element, setText } from "../viewer/dom.js";
import { formatPercent } from "../viewer/format.js";
import { profileName, shortProfile } from "./profiles.js";

const MOST_BARS = 24;

/** Build the bars in host; onPick(place) is called where one is chosen. */
export function createLawBars(host, onPick) {
  const list = element("ul", { class: "gs-bars" });
  const more = element("p", { class: "pv-quiet" });
  host.append(list, more);
  let rows = [];

  function build(count) {
    rows = Array.from({ length: count }, () => {
      const name = element("span", { class: "gs-bar-name" });
      const fill = element("span", { class: "gs-bar-fill" });
      const share = element("span", { class: "gs-bar-share pv-number" });
      const track = element("span", { class: "gs-bar-track" }, fill);
      const button = element("button", { type: "button", class: "gs-bar" }, name, track, share);
      return { item: element("li", {}, button), button, name, fill, share, place: 0 };
    });
    rows.forEach((row) => row.button.addEventListener("click", () => onPick(row.place)));
    list.replaceChildren(...rows.map((row) => row.item));
  }

  return {
    show({ shares, answer, root }) {
      const { actions, nash, maximisers, stability } = answer;
      const places = answer.payoffs[0].map((_, place) => place);
      const few = places.length <= MOST_BARS;
      const inOrder = few || !shares ? places : [...places].sort((a, b) => shares[b] - shares[a] || a - b);
      const shown = inOrder.slice(0, MOST_BARS);
      if (rows.length !== shown.length) build(shown.length);
      setText(more, few ? "" : `the ${shares ? "likeliest" : "first"} ${MOST_BARS} of ${places.length} profiles`);
      more.hidden = few;
      list.style.setProperty("--name", `${shortProfile(places.length - 1, actions).length + 2}ch`);
      rows.forEach((row, k) => {
        row.place = shown[k];
        const share = shares ? shares[row.place] : NaN;
        const star = maximisers?.includes(row.place) ? " ★" : "";
        setText(row.name, shortProfile(row.place, actions) + star);
        setText(row.share, formatPercent(share));
        row.fill.style.width = `${100 * (share || 0)}%`;
        const stable = Boolean(stability?.stable.includes(row.place));
        row.button.classList.toggle("gs-stable", stable);
        row.button.setAttribute("aria-pressed", String(root === row.place));
        const facts = [`${profileName(row.place, actions)}: ${formatPercent(share)} of the long run`];
        if (star) facts.push("maximises the potential");
        if (nash.includes(row.place)) facts.push("Nash equilibrium");
        if (stable) facts.push("stochastically stable");
        const verb = stability ? "; press for its tree" : "";
        row.button.setAttribute("aria-label", facts.join(", ") + verb);
      });
    },
  };
}
