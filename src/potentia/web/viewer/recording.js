// A recording as docs/recordings.md says: gunzip, check, typed arrays on one buffer.

const NEWEST_VERSION = 3; // worlds that change in other ways than a mixture, robots that come and go, edits
const MAGIC = "potentia";
const ARRAY_TYPES = { u1: Uint8Array, i4: Int32Array, u4: Uint32Array, f4: Float32Array, f8: Float64Array };
const LARGE_SEED = /("seed":\s*)(\d{16,})/g; // has more digits than numbers hold: kept as a text
const KINDS = ["map", "network", "loads", "table", "players"];

/** What is wrong with a recording, in one sentence. */
export class RecordingError extends Error {
  constructor(message) {
    super(message);
    this.name = "RecordingError";
  }
}

/** A header, and arrays by name with their shapes. */
export class Recording {
  constructor(header, arrays, shapes) {
    this.header = header;
    this.arrays = arrays;
    this.shapes = shapes;
    this.label = header.label || header.rule?.name || header.title || "run";
  }
}

/** Read the bytes of a file. */
export async function openRecording(bytes) {
  const { header, arrays, shapes } = readParts(await gunzipped(bytes));
  checkRecording(header, arrays, shapes);
  measureSeries(header, arrays);
  return new Recording(header, arrays, shapes);
}

/** A header and its arrays, from a buffer that holds them one after the other. */
export function readParts(buffer) {
  if (buffer.byteLength < 16) throw new RecordingError("this is not a recording: it is too short");
  const start = new Uint8Array(buffer, 0, 8);
  if (String.fromCharCode(...start) !== MAGIC) {
    throw new RecordingError("this is not a recording: it does not begin as one");
  }
  const view = new DataView(buffer);
  const version = view.getUint32(8, true);
  if (version > NEWEST_VERSION) {
    const told = `this recording has version ${version}, this page reads up to ${NEWEST_VERSION}`;
    throw new RecordingError(`${told}: write the page again with the potentia that wrote the recording`);
  }
  const headerEnd = 16 + view.getUint32(12, true);
  if (headerEnd > buffer.byteLength || headerEnd % 8) throw damaged("its header is incomplete");
  const header = parsedHeader(new Uint8Array(buffer, 16, headerEnd - 16));
  const [arrays, shapes] = readArrays(buffer, headerEnd, header.arrays);
  return { header, arrays, shapes };
}

/** Series of lengths in the unit of the map, in which pages tell them. */
export function measureSeries({ series, map }, { times, series: values }) {
  series.forEach((row, k) => {
    if (!row.length || !map?.cell_size) return;
    row.unit = map.unit;
    for (let at = k * times.length; at < (k + 1) * times.length; at += 1) values[at] *= map.cell_size;
  });
}

/** A RecordingError for contents that contradict the format. */
export function damaged(what) {
  return new RecordingError(`this recording is damaged: ${what}`);
}

async function gunzipped(bytes) {
  if (bytes.length < 18 || bytes[0] !== 0x1f || bytes[1] !== 0x8b) {
    throw new RecordingError("this is not a recording: it is no gzip stream");
  }
  const { roundRect } = CanvasRenderingContext2D.prototype;
  if (![self.DecompressionStream, roundRect, Object.hasOwn, [].findLast].every(Boolean)) {
    const told = "use Chrome or Edge from 99, Firefox from 113 or Safari from 16.4";
    throw new RecordingError(`this browser is too old to show a recording: ${told}`);
  }
  try {
    return await collected(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip")));
  } catch (error) {
    const cut = /truncat|unexpected end|incomplete|without finish/i.test(String(error?.message ?? error));
    if (cut) throw new RecordingError("this recording is cut short: the end of the file is missing");
    throw damaged("gzip refuses it");
  }
}

/** All that a stream gives, in one buffer; a Response would hide why it failed. */
async function collected(stream) {
  const parts = [];
  let length = 0;
  const reader = stream.getReader();
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    parts.push(part.value);
    length += part.value.length;
  }
  const all = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all.buffer;
}

function parsedHeader(bytes) {
  let header;
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    header = JSON.parse(text.replace(LARGE_SEED, '$1"$2"'));
  } catch {
    throw damaged("its header cannot be read");
  }
  if (header === null || typeof header !== "object" || Array.isArray(header)) throw damaged("its header is no object");
  return header;
}

function readArrays(buffer, base, table) {
  const arrays = {};
  const shapes = {};
  for (const [name, entry] of Object.entries(table ?? {})) {
    const [type, shape, offset] = Array.isArray(entry) ? entry : [];
    const Kind = Object.hasOwn(ARRAY_TYPES, type) ? ARRAY_TYPES[type] : null;
    const whole = (value) => Number.isInteger(value) && value >= 0;
    if (!Kind || !Array.isArray(shape) || !shape.every(whole) || !whole(offset) || offset % 8) {
      throw damaged(`its array ${name} is not described`);
    }
    const length = shape.reduce((product, side) => product * side, 1);
    if (base + offset + length * Kind.BYTES_PER_ELEMENT > buffer.byteLength) {
      throw new RecordingError(`this recording is cut short: its array ${name} is not whole`);
    }
    arrays[name] = new Kind(buffer, base + offset, length);
    shapes[name] = shape;
  }
  return [arrays, shapes];
}

function checkRecording(header, arrays, shapes) {
  const { game, series } = header;
  if (!game || !KINDS.includes(game.kind)) throw damaged(`its kind of game, ${game?.kind}, is not known`);
  for (const name of ["sizes", "start", "changes", "times", "series"]) {
    if (!arrays[name]) throw damaged(`its array ${name} is missing`);
  }
  if (!Number.isInteger(header.steps) || header.steps < 0) throw damaged("it does not say how many steps were played");
  if (arrays.start.length !== game.players) {
    throw damaged(`it begins with ${arrays.start.length} of ${game.players} players`);
  }
  if (![1, game.players].includes(arrays.sizes.length)) throw damaged("its numbers of actions do not fit its players");
  if (!Array.isArray(series) || arrays.series.length !== series.length * arrays.times.length) {
    throw damaged("its series do not fit their times");
  }
  if (game.kind === "map") checkMap(header, arrays, shapes);
}

function checkMap(header, arrays, shapes) {
  const { columns, rows, offsets } = header.map ?? {};
  if (!(columns > 0) || !(rows > 0) || !Array.isArray(offsets)) throw damaged("its map is not described");
  checkLengths(header.map);
  for (const name of ["worth", "blocked"]) {
    const [high, wide] = shapes[name] ?? [];
    if (high !== rows || wide !== columns) {
      throw damaged(`its array ${name} does not fit a map of ${columns}×${rows} cells`);
    }
  }
  if (![1, header.game.players].includes(arrays.delta?.length)) throw damaged("its ranges do not fit its players");
}

function checkLengths({ cell_size: side = null, places = null, unit }) {
  if (side !== null && !(side > 0 && typeof unit === "string")) throw damaged("its cells have no length");
  if (places === null) return;
  const { transform, names, unit: told, system } = places;
  const numbers = Array.isArray(transform) && transform.length === 6 && transform.every(Number.isFinite);
  const texts = [...(Array.isArray(names) && names.length === 2 ? names : [null]), told, system];
  if (!numbers || !transform[0] || !transform[4] || !texts.every((text) => typeof text === "string")) {
    throw damaged("its places are not described");
  }
}
