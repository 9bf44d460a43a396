// Numbers and tables as text, the same in every country.

const THIN = "\u202f"; // at which no line breaks

/** Whole numbers with commas: 1,234,567. */
export function formatCount(value) {
  if (!Number.isFinite(value)) return "–";
  const sign = value < 0 ? "−" : "";
  return sign + String(Math.round(Math.abs(value))).replace(/\B(?=(\d{3})+(?!\d))/g, ",");
}

/** Four digits, so that worths can be compared; large numbers whole. */
export function formatNumber(value) {
  if (Number.isNaN(value) || value === null || value === undefined) return "–";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e15) return value.toExponential(3).replace("e+", "e").replace("-", "−");
  if (size >= 999.95) return formatCount(value);
  if (Number.isInteger(value)) return value < 0 ? `−${size}` : String(value);
  const text = size < 1e-4 ? size.toExponential(3) : trimmedPrecision(size);
  return (value < 0 ? "−" : "") + text.replace("e-", "e−");
}

function trimmedPrecision(size) {
  const text = size.toPrecision(4);
  return text.includes("e") ? String(Number(text)) : text;
}

/** A share as per cent: 0.1234 is "12.3 %". */
export function formatPercent(share) {
  if (!Number.isFinite(share)) return "–";
  const value = 100 * share;
  const text = Math.abs(value) >= 1000 ? formatCount(value) : value.toFixed(Math.abs(value) < 99.95 ? 1 : 0);
  return `${text.replace("-", "−")}${THIN}%`;
}

/** The same where a small share says something: 0.00001234 is "0.001234 %". */
export function formatShare(share) {
  return share > 0 && share < 5e-4 ? `${formatNumber(100 * share)}${THIN}%` : formatPercent(share);
}

/** A speed in words: "1,000 steps a second". */
export function formatSpeed(speed) {
  return `${formatCount(speed)} ${speed === 1 ? "step" : "steps"}/s`;
}

/** "1 robot", "2 robots". */
export function counted(count, noun) {
  return `${formatCount(count)} ${noun}${count === 1 ? "" : "s"}`;
}

/** Round numbers between low and high, about `wanted` of them, with texts of equal precision. */
export function niceTicks(low, high, wanted, whole = false) {
  const span = high - low;
  if (!(span > 0) || !Number.isFinite(span)) return [{ value: low, text: formatNumber(low) }];
  const rough = span / Math.max(1, wanted);
  const power = 10 ** Math.floor(Math.log10(rough));
  let unit = power * ([1, 2, 2.5, 5, 10].find((k) => k * power >= rough * (1 - 1e-9)) ?? 10);
  if (whole) unit = Math.max(1, Math.round(unit));
  const ticks = [];
  for (let k = Math.ceil(low / unit - 1e-9); k * unit <= high + 1e-9 * span; k += 1) {
    ticks.push({ value: k * unit, text: tickText(k * unit, unit) });
  }
  return ticks;
}

function tickText(value, unit) {
  const size = Math.abs(value);
  if (size > 0 && (size >= 1e7 || unit < 1e-4)) {
    return value.toExponential(2).replace(/\.?0+e/, "e").replace("e+", "e").replace(/-/g, "−");
  }
  if (unit >= 1 && Number.isInteger(unit)) return formatCount(value);
  let digits = 0;
  while (digits < 8 && Math.abs(unit * 10 ** digits - Math.round(unit * 10 ** digits)) > 1e-6) digits += 1;
  return value.toFixed(digits).replace(/^-/, "−");
}

/** Rows of cells as CSV. A text that a spreadsheet would take for a formula begins with an apostrophe; numbers stay. */
export function csvText(rows) {
  return `${rows.map((row) => row.map(csvCell).join(",")).join("\r\n")}\r\n`;
}

function csvCell(value) {
  if (typeof value === "number") return Number.isFinite(value) ? String(value) : "";
  let text = String(value ?? "");
  if (/^([\t\r\n]|\s*[=+\-@＝＋－＠])/.test(text) && !Number.isFinite(Number(text))) text = `'${text}`;
  return /[",\r\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
}
