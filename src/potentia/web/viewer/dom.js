// Small helpers for the document. Texts are always texts: nothing here reads HTML.

const SVG = "http://www.w3.org/2000/svg";

/** An element with attributes (text and on… are special) and children. */
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "text") made.textContent = value;
    else if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

/** Change a text only where it differs, so that nothing is laid out in vain. */
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/** The same of a text that may be cut, and is then told by its title. */
export function setTitled(node, text) {
  setText(node, text);
  if (node.title !== text) node.title = text;
}

/** An icon of 24×24 drawn by one path. */
export function icon(path) {
  const look = { viewBox: "0 0 24 24", width: "20", height: "20", "aria-hidden": "true" };
  return svgElement("svg", look, svgElement("path", { d: path, fill: "currentColor" }));
}

/** A shape with attributes, or a drawing of shapes. */
export function svgElement(tag, attributes = {}, ...children) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

/** Give a canvas a size in CSS pixels, and return its context with lengths in CSS pixels. */
export function sizedCanvas(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1;
  const wide = Math.max(1, Math.round(width * ratio));
  const high = Math.max(1, Math.round(height * ratio));
  if (canvas.width !== wide || canvas.height !== high) {
    canvas.width = wide;
    canvas.height = high;
  }
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  return context;
}

/** A canvas that is not in the document, with pixels of its own. */
export function hiddenCanvas(width, height) {
  const canvas = document.createElement("canvas");
  canvas.width = Math.max(1, width);
  canvas.height = Math.max(1, height);
  return canvas;
}

/** A brush that is only asked how wide texts are. */
export function rulerOf(font) {
  const brush = hiddenCanvas(1, 1).getContext("2d");
  brush.font = font;
  return brush;
}

/** A text that fits into a room, cut where it does not. */
export function shortenedTo(brush, text, room) {
  let length = text.length;
  if (brush.measureText(text).width <= room) return text;
  while (length > 1 && brush.measureText(`${text.slice(0, length)}…`).width > room) length -= 1;
  return `${text.slice(0, length)}…`;
}

export const FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif';
