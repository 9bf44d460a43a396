// One clock for all recordings: a step, a speed, and whether it runs.

export const SLOWEST = 1; // steps a second
export const FASTEST = 100000;
const FIRST_SPAN = 100; // steps that are drawn of a run that begins, and how many times more whenever these are played
const GROWTH = 1.5;
const LONGEST_FRAME = 500; // milliseconds; a page that was hidden does not catch up

/** Tells its listeners when the step, the speed or play and pause change. */
export class Clock {
  constructor(steps, speed = speedFor(steps)) {
    this.steps = steps;
    this.follows = false; // whether runs are still played
    this.limit = steps; // up to which steps are known; more may come while it runs
    this.step = 0;
    this.speed = speed;
    this.playing = false;
    this.listeners = [];
    this.fraction = 0;
    this.last = 0;
    this.frame = 0;
  }

  /** Up to where curves and timelines are drawn: of runs that are still played a little beyond what was. */
  get span() {
    if (!this.follows) return this.steps;
    let end = FIRST_SPAN;
    while (end < 1.02 * this.limit) end *= GROWTH;
    return Math.min(this.steps, Math.ceil(end));
  }

  /** `listener(what)` is called with "step", "speed" or "playing". */
  listen(listener) {
    this.listeners.push(listener);
  }

  /** Whether somebody else sees to what happens at the end. */
  tellEnd() {
    this.onEnd?.();
    return Boolean(this.onEnd);
  }

  tell(what) {
    for (const listener of this.listeners) listener(what);
  }

  seek(step) {
    const goal = Math.min(this.limit, Math.max(0, Math.floor(Number(step) || 0)));
    this.fraction = 0;
    if (goal !== this.step) {
      this.step = goal;
      this.tell("step");
    }
  }

  setSpeed(speed) {
    this.speed = Math.min(FASTEST, Math.max(SLOWEST, Math.round(speed)));
    this.tell("speed");
  }

  play() {
    if (this.playing || this.steps === 0) return;
    if (this.step >= this.steps && !this.tellEnd()) this.seek(0);
    this.playing = true;
    this.last = 0;
    this.frame = requestAnimationFrame((now) => this.advance(now));
    this.tell("playing");
  }

  pause() {
    if (!this.playing) return;
    this.playing = false;
    cancelAnimationFrame(this.frame);
    this.tell("playing");
  }

  toggle() {
    if (this.playing) this.pause();
    else this.play();
  }

  advance(now) {
    if (!this.playing) return;
    const passed = this.last ? Math.min(LONGEST_FRAME, now - this.last) : 0;
    this.last = now;
    this.fraction += (passed / 1000) * this.speed;
    const whole = Math.floor(this.fraction);
    this.fraction -= whole;
    const goal = Math.min(this.limit, this.step + whole);
    if (goal !== this.step) {
      this.step = goal;
      this.tell("step");
    }
    if (goal >= this.steps) this.pause();
    else this.frame = requestAnimationFrame((later) => this.advance(later));
  }
}

/** A speed of 1, 2 or 5 times a power of ten, at which a run lasts about twenty seconds. */
export function speedFor(steps) {
  return nearSpeed(steps / 20, 0);
}

/** The next of the speeds 1, 2, 5, 10, …: up (1), down (-1) or nearest (0). */
export function nearSpeed(speed, direction) {
  const speeds = [];
  for (let power = 1; power <= FASTEST; power *= 10) speeds.push(power, 2 * power, 5 * power);
  const known = speeds.filter((each) => each <= FASTEST);
  if (direction > 0) return known.find((each) => each > speed * (1 + 1e-9)) ?? FASTEST;
  if (direction < 0) return known.findLast((each) => each < speed * (1 - 1e-9)) ?? SLOWEST;
  const off = (each) => Math.abs(Math.log(each / Math.max(speed, SLOWEST)));
  return known.reduce((best, each) => (off(each) < off(best) ? each : best));
}
