// The score dynamics of 2×2 games (analysis/score_dynamics.py): what Q-learning of order 1 and 2 does on average.
// Only the difference d of a player's two scores counts: d' = Δu − T d, and x = 1/(1 + e^(−d/τ)); of order 2 Δu passes
// through one more stage.

const SMALL_ERROR = 1e-10;
const MOST_STEPS = 200_000;

const shareOf = (difference, tau) => 1 / (1 + Math.exp(-difference / tau));

/** What the first action pays each player more than the second, at shares x and y of first actions. */
function advantages([u, v], x, y) {
  return [
    y * (u[0][0] - u[1][0]) + (1 - y) * (u[0][1] - u[1][1]),
    x * (v[0][0] - v[0][1]) + (1 - x) * (v[1][0] - v[1][1]),
  ];
}

/** The right-hand side; a state is the differences of both players, stage by stage. */
function changeOf({ payoffs, tau, discount, order }) {
  return (state) => {
    const last = 2 * (order - 1);
    const drive = advantages(payoffs, shareOf(state[last], tau), shareOf(state[last + 1], tau));
    return state.map((value, k) => (k < 2 ? drive[k] : state[k - 2]) - discount * value);
  };
}

// Dormand and Prince's pair of orders 5 and 4.
const STAGES = [
  [1 / 5],
  [3 / 40, 9 / 40],
  [44 / 45, -56 / 15, 32 / 9],
  [19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729],
  [9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656],
  [35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84],
];
const ERROR_WEIGHTS = [71 / 57600, 0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40];

function tryStep(change, state, step) {
  const slopes = [change(state)];
  const along = (weights, k) => step * weights.reduce((sum, weight, j) => sum + weight * slopes[j][k], 0);
  const moved = (weights) => state.map((value, k) => value + along(weights, k));
  let next = state;
  for (const weights of STAGES) {
    next = moved(weights);
    slopes.push(change(next));
  }
  const off = state.map((value, k) => {
    return Math.abs(along(ERROR_WEIGHTS, k)) / (1 + Math.abs(next[k]));
  });
  return { next, error: Math.max(...off) };
}

/** The states at equally spaced times from 0 to the horizon. */
function integrate(change, start, horizon, points) {
  const times = Array.from({ length: points }, (_, k) => (horizon * k) / (points - 1));
  const states = [start];
  let [state, time, step, taken] = [start, 0, horizon / (10 * points), 0];
  for (const goal of times.slice(1)) {
    while (time < goal) {
      if ((taken += 1) > MOST_STEPS) throw new Error("strategies change too fast for this horizon: use a larger τ");
      const last = time + step >= goal;
      const tried = last ? goal - time : step;
      const { next, error } = tryStep(change, state, tried);
      if (error <= SMALL_ERROR) {
        state = next;
        time = last ? goal : time + tried;
      }
      const factor = Math.min(5, Math.max(0.2, 0.9 * (SMALL_ERROR / Math.max(error, 1e-300)) ** 0.2));
      if (!(last && error <= SMALL_ERROR && factor * tried < step)) step = factor * tried;
    }
    states.push(state);
  }
  return { times, states };
}

/** The strategies of both players from a start on. */
export function answerTrajectory(message) {
  const { payoffs, start, tau, discount, order, horizon, points } = message;
  const first = start.map(([x]) => tau * Math.log(x / (1 - x)));
  const state = order === 2 ? [0, 0, ...first] : first;
  const { times, states } = integrate(changeOf({ payoffs, tau, discount, order }), state, horizon, points);
  const shares = (player) => states.map((one) => shareOf(one[2 * (order - 1) + player], tau));
  return { times, strategies: [0, 1].map((player) => shares(player).map((x) => [x, 1 - x])) };
}

/** The direction field, of order 1 only, and the Nash equilibria as shares of first actions. */
export function answerPortrait({ payoffs, tau, discount, order, grid }) {
  const equilibria = nashShares(payoffs);
  if (order > 1) return { field: null, equilibria };
  const field = { x: [], y: [], dx: [], dy: [] };
  const at = (k) => (k + 0.5) / grid;
  for (let i = 0; i < grid; i += 1) {
    for (let j = 0; j < grid; j += 1) {
      const place = [at(i), at(j)];
      const drive = advantages(payoffs, ...place);
      const [dx, dy] = place.map((s, k) => s * (1 - s) * (drive[k] / tau - discount * Math.log(s / (1 - s))));
      Object.entries({ x: place[0], y: place[1], dx, dy }).forEach(([key, value]) => field[key].push(value));
    }
  }
  return { field, equilibria };
}

function nashShares(payoffs) {
  const found = [];
  for (const [x, y] of [[1, 1], [1, 0], [0, 1], [0, 0]]) {
    const gains = advantages(payoffs, x, y);
    if ([x, y].every((share, k) => (share ? gains[k] >= 0 : gains[k] <= 0))) found.push([x, y]);
  }
  const zero = (at) => {
    const [low, high] = [at(0), at(1)];
    return low === high ? NaN : low / (low - high);
  };
  const mixed = [zero((x) => advantages(payoffs, x, 0)[1]), zero((y) => advantages(payoffs, 0, y)[0])];
  if (mixed.every((share) => share > 0 && share < 1)) found.push(mixed);
  return found;
}
