// Terms c·ε^r with ε = e^(−1/τ), as the library counts them (rules/chooses.py): at τ > 0 a term is a probability, at
// τ = 0 it is the leading one as τ → 0, so that r is a resistance. Utilities are then whole numbers of a unit, and ties
// exact.

const DIGITS = 12; // of the largest payoff, that count

/** Payoffs (players, profiles) as whole numbers, and what one of them is worth. Sums of a few stay exact. */
export function wholePayoffs(payoffs) {
  const largest = Math.max(...payoffs.flat().map(Math.abs));
  if (largest === 0) return { whole: payoffs.map((row) => row.map(() => 0)), unit: 1 };
  const digits = Math.max(0, DIGITS - 1 - Math.floor(Math.log10(largest)));
  const scale = digits > 300 ? 1e300 : 10 ** digits;
  const whole = payoffs.map((row) => row.map((value) => Math.round(value * scale)));
  const common = whole.flat().reduce((a, b) => commonDivisor(a, Math.abs(b)), 0) || 1;
  return { whole: whole.map((row) => row.map((value) => value / common)), unit: common / scale };
}

function commonDivisor(a, b) {
  return b === 0 ? a : commonDivisor(b, a % b);
}

/** The sum of two terms; at τ = 0 the one of the lower order. */
export function addTerms(one, other, tau) {
  if (!one || one.c === 0) return other;
  if (other.c === 0) return one;
  const [low, high] = one.r <= other.r ? [one, other] : [other, one];
  if (tau > 0) return { c: low.c + high.c * Math.exp((low.r - high.r) / tau), r: low.r };
  return low.r === high.r ? { c: low.c + high.c, r: low.r } : low;
}

export const timesTerm = (one, other) => ({ c: one.c * other.c, r: one.r + other.r });

export const certain = (c) => ({ c, r: 0 });

/** The probability that a term is at this temperature. */
export const chanceOf = ({ c, r }, tau) => (r === 0 ? c : tau > 0 ? c * Math.exp(-r / tau) : 0);

/** The terms of keeping the present action and of taking the other one, of utilities `now` and `then`. */
export function pairTerms({ chooses, ties, inertia }, now, then, tau) {
  const gap = then - now;
  if (chooses === "logit") return logitPair(gap, tau);
  if (chooses === "metropolis") {
    const stay = gap >= 0 ? 0 : tau > 0 ? -Math.expm1(gap / tau) : 1;
    return [certain(stay), { c: 1, r: Math.max(0, -gap) }];
  }
  if (chooses === "better") return gap > 0 ? [certain(inertia), certain(1 - inertia)] : [certain(1), certain(0)];
  const stays = gap < 0 || (gap === 0 && chooses === "best" && ties === "stay") ? 1 : gap > 0 ? 0 : 0.5;
  if (chooses === "best") return [certain(stays), certain(1 - stays)];
  const slip = tau > 0 ? Math.exp(-1 / tau) : 0; // mistakes
  return [stays, 1 - stays].map((share) => (share > 0 ? certain(slip / 2 + (1 - slip) * share) : { c: 0.5, r: 1 }));
}

function logitPair(gap, tau) {
  const best = tau > 0 ? 1 / (1 + Math.exp(-Math.abs(gap) / tau)) : gap === 0 ? 0.5 : 1;
  return [
    { c: best, r: Math.max(0, gap) },
    { c: best, r: Math.max(0, -gap) },
  ];
}
