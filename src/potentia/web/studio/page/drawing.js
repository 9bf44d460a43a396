// The stages as a drawing: every canvas as a picture where it stands, every word as text, so that it scales and can be
// searched.

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
  parts.push(text(MARGIN, 26, viewer.title, `font-size="15" font-weight="600" fill="${ink}"`));
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

function words(node, at, parts) {
  const said = node.textContent.trim();
  if (!said) return;
  const range = document.createRange();
  range.selectNodeContents(node);
  const place = range.getBoundingClientRect();
  if (!place.width) return;
  const look = getComputedStyle(node.parentElement);
  const size = parseFloat(look.fontSize);
  const [x, y] = at(place.left, place.top + size);
  parts.push(text(x, y, said, `font-size="${size}" font-weight="${look.fontWeight}" fill="${look.color}"`));
}
