// How far robots have gone, in cells, by their changes.

export class Ways {
  /** Where robots were moved by hand, they did not drive. */
  constructor(timeline, grid) {
    this.timeline = timeline;
    this.grid = grid;
    this.known = new Map(); // of each robot, how far it had gone after each of its changes
    const moves = (timeline.recording.header.interventions ?? []).filter(({ did }) => did?.kind === "move");
    this.moves = new Set(moves.map(({ step, did }) => `${step} ${did.robot}`));
  }

  /** How far a robot has gone by a step. */
  upTo(robot, step) {
    const { timeline } = this;
    if (!this.known.has(robot)) this.known.set(robot, []);
    const way = this.known.get(robot);
    const order = timeline.changesOfPlayer(robot);
    for (let k = way.length; k < order.length; k += 1) {
      way.push((way[k - 1] ?? 0) + (this.byHand(robot, order[k], order[k + 1]) ? 0 : this.jump(order[k])));
    }
    const made = timeline.changesOf(robot, step);
    return made ? way[made - 1] : 0;
  }

  /** Whether this change is the last of its step, and made by hand. */
  byHand(robot, change, next) {
    const { changeSteps } = this.timeline;
    if (!this.moves.size || changeSteps[next] === changeSteps[change]) return false;
    return this.moves.has(`${changeSteps[change]} ${robot}`);
  }

  /** The length of one change. */
  jump(change) {
    const { changeBefore, changeAfter } = this.timeline;
    const { cellOf, columns } = this.grid;
    const before = cellOf[changeBefore[change]];
    const after = cellOf[changeAfter[change]];
    const dx = (after % columns) - (before % columns);
    return Math.hypot(dx, Math.floor(after / columns) - Math.floor(before / columns));
  }
}
