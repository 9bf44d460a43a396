// How runs are played at a step: the rule, the belief, and the temperature of a schedule, as Python has it.

const [GEOMETRIC, LOGARITHMIC] = [0, 1];

/** What holds of a run at a step; `lane` lists what holds from which step on. */
export function heldAt(lane, step) {
  return lane.findLast(({ since }) => since <= step) ?? lane[0];
}

/** The temperature at a step, or null where there is none. */
export function temperatureAt({ tau }, step) {
  if (tau === null) return null;
  if (tau.kind === undefined) return tau.tau;
  const { kind, start, stop, rate, times, values } = tau;
  if (kind === GEOMETRIC) return Math.max(stop, start * Math.exp(-0.5 * rate * step) ** 2);
  if (kind === LOGARITHMIC) return Math.max(stop, start / Math.log(Math.E + rate * step));
  const next = times.findIndex((time) => time > step);
  if (next < 0) return values[values.length - 1];
  const share = (step - times[next - 1]) / (times[next] - times[next - 1]);
  return values[next - 1] + share * (values[next] - values[next - 1]);
}
