// The stages as a drawing: every canvas as a picture where it stands, every word as text, so that it scales and can be
// searched.

import { FONT, hiddenCanvas } from "/viewer/dom.js";
import { shortenedTo } from "/viewer/dom.js";

const SPACE = "http://www.w3.org/2000/svg";
const MARGIN = 16;
const LEFT_OUT = "input, select, button, label, .pv-hidden, [data-prompt]";

/** The text of an SVG of what is played, with the title and the step above. */
export function svgOf(viewer) {
  const box = viewer.played.getBoundingClientRect();
  const width = Math.ceil(box.width + 2 * MARGIN);
  const height = Math.ceil(box.height + 3 * MARGIN + 30);
  const parts = [];
  const at = (x, y) => [round(x - box.left + MARGIN), round(y - box.top + MARGIN + 40)];
  const { ink, paper } = viewer.colours;
  parts.push(`<rect width="${width}" height="${height}" fill="${paper}"/>`);
  const brush = hiddenCanvas(1, 1).getContext("2d");
  brush.font = `600 15px ${FONT}`;
  parts.push(text(MARGIN, 26, shortenedTo(brush, viewer.title, box.width), `font-size="15" font-weight="600" fill="${ink}"`));
  parts.push(text(MARGIN, 44, `step ${viewer.clock.step}`, `font-size="12" fill="${ink}"`));
  collect(viewer.played, at, parts);
  const head = `<svg xmlns="${SPACE}" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"`;
  return `${head} font-family="system-ui, sans-serif">\n${parts.join("\n")}\n</svg>\n`;
}

function round(value) {
  return Math.round(100 * value) / 100;
}

function escaped(words) {
  return words.replace(/[&<>"]/g, (letter) => `&#${letter.charCodeAt(0)};`);
}

function text(x, y, words, look) {
  return `<text x="${x}" y="${y}" ${look}>${escaped(words)}</text>`;
}

function collect(node, at, parts) {
  if (node.nodeType === Node.TEXT_NODE) return words(node, at, parts);
  if (node.nodeType !== Node.ELEMENT_NODE || node.matches(LEFT_OUT)) return undefined;
  const place = node.getBoundingClientRect();
  if (!place.width && !place.height) return undefined;
  if (node.tagName === "CANVAS") {
    const [x, y] = at(place.left, place.top);
    const size = `x="${x}" y="${y}" width="${round(place.width)}" height="${round(place.height)}"`;
    parts.push(`<image ${size} href="${node.toDataURL("image/png")}"/>`);
    return undefined;
  }
  if (node.tagName === "svg") {
    const [x, y] = at(place.left, place.top);
    const copy = node.cloneNode(true);
    for (const [name, value] of Object.entries({ x, y, width: place.width, height: place.height })) copy.setAttribute(name, value);
    copy.setAttribute("color", getComputedStyle(node).color);
    parts.push(new XMLSerializer().serializeToString(copy));
    return undefined;
  }
  for (const child of node.childNodes) collect(child, at, parts);
  return undefined;
}

/** Each line where it stands, as wide as it is there. */
function words(node, at, parts) {
  const holder = node.parentElement;
  const look = getComputedStyle(holder);
  const size = parseFloat(look.fontSize);
  for (const { line, place } of linesOf(node, look.overflowX === "hidden" && holder.getBoundingClientRect())) {
    const [x, y] = at(place.left, (place.top + place.bottom) / 2 + 0.35 * size);
    const length = place.right > place.left ? ` textLength="${round(place.right - place.left)}"` : "";
    const shape = `font-size="${size}" font-weight="${look.fontWeight}" fill="${look.color}"${length}`;
    parts.push(text(x, y, line, `${shape} lengthAdjust="spacingAndGlyphs"`));
  }
}

/** The lines of a text and their places; what a box cuts off ends with an ellipsis. */
function linesOf(node, box) {
  const lines = [];
  const range = document.createRange();
  for (const { 0: word, index } of node.data.matchAll(/\S+/g)) {
    range.setStart(node, index);
    range.setEnd(node, index + word.length);
    const [place] = range.getClientRects();
    if (!place?.width) continue;
    const last = lines[lines.length - 1];
    if (box && (place.right > box.right + 1 || place.bottom > box.bottom + 2)) {
      if (last) lines[lines.length - 1] = { ...last, line: `${last.line} …`, place: { ...last.place, right: last.place.left } };
      break;
    }
    const { left, right, top, bottom } = place;
    if (last && Math.abs(last.place.top - top) < 2) {
      last.line += ` ${word}`;
      last.place.right = right;
    } else lines.push({ line: word, place: { left, right, top, bottom } });
  }
  return lines;
}
