// Fields for numbers with a decimal point or comma: of the browser's own, some read "0,5" as 5.

import { element } from "./dom.js";

const A_NUMBER = /^[+-]?(\d+[.,]?\d*|[.,]\d+)(e[+-]?\d+)?$/i;
const THOUSANDS = /^[+-]?[1-9]\d*,\d{3}$/; // or a decimal comma: nobody can tell

/** A field; with a `step`, arrows go up and down as if the number were typed. */
export function numberField({ step = 0, ...look } = {}) {
  const field = element("input", { type: "text", inputmode: "decimal", autocomplete: "off", spellcheck: "false", ...look });
  field.addEventListener("keydown", (event) => {
    const by = step * ({ ArrowUp: 1, ArrowDown: -1 }[event.key] ?? 0);
    if (!by || Number.isNaN(numberIn(field))) return;
    field.value = String(Number((numberIn(field) + by).toPrecision(12)));
    for (const kind of ["input", "change"]) field.dispatchEvent(new Event(kind));
    event.preventDefault();
  });
  return field;
}

/** The number that is typed, or NaN. */
export function numberIn(field) {
  const text = field.value.trim().replace("−", "-");
  return A_NUMBER.test(text) && !THOUSANDS.test(text) ? Number(text.replace(",", ".")) : NaN;
}
