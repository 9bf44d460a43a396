// Numbers and profiles in sentences, written as the library writes them.

/** A number with so many digits, as Python's "g" writes it. */
export function significant(value, digits = 6) {
  if (!Number.isFinite(value)) return String(value);
  if (value === 0) return "0";
  const [mantissa, power] = value.toExponential(digits - 1).split("e");
  const exponent = Number(power);
  if (exponent >= -4 && exponent < digits) return trimZeros(value.toFixed(digits - 1 - exponent));
  return `${trimZeros(mantissa)}e${exponent < 0 ? "-" : "+"}${String(Math.abs(exponent)).padStart(2, "0")}`;
}

function trimZeros(text) {
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

export const signed = (value) => (value < 0 ? "" : "+") + significant(value);

/** A profile of a 2×2 game by its actions. */
export const profileWords = (profile) => `(${profile >> 1}, ${profile & 1})`;

export const percentWords = (share) => `${(100 * share).toFixed(1)}%`;

/** "player 0", "players 0 and 1". */
export function playersWords(players) {
  if (players.length === 1) return `player ${players[0]}`;
  return `players ${players.slice(0, -1).join(", ")} and ${players[players.length - 1]}`;
}

const actionOf = (profile, player) => (player === 0 ? profile >> 1 : profile & 1);
const capital = (text) => text[0].toUpperCase() + text.slice(1);

/** One step in sentences: who woke, what they tried, who took it and who stayed. */
export function stepWords({ from, to, awake, tried, took, compared, trial, together, resistance }) {
  const name = profileWords;
  const said = [`${capital(playersWords(awake))} ${awake.length > 1 ? "wake" : "wakes"} at ${name(from)}.`];
  if (together) said.push(`Together they try ${name(trial)}.`);
  tried.forEach((player, k) => {
    const [now, then] = compared[k].map((value) => significant(value));
    const does = took.includes(player) ? "takes it" : "stays";
    const tries = together ? "" : ` tries action ${actionOf(trial, player)}: it`;
    said.push(`Player ${player}${tries} compares ${now} with ${then} and ${does}.`);
  });
  const own = awake.filter((player) => !tried.includes(player));
  if (own.length) said.push(`${capital(playersWords(own))} ${own.length > 1 ? "draw" : "draws"} the present action.`);
  said.push(`Play goes from ${name(from)} to ${name(to)} at resistance ${significant(resistance)}.`);
  return said;
}
