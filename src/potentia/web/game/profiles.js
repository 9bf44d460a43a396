// Profiles by their numbers in C order, for any numbers of actions.

/** The actions of a profile. */
export function actionsOf(place, sizes) {
  const actions = [];
  let rest = place;
  for (let player = sizes.length - 1; player >= 0; player -= 1) {
    actions.unshift(rest % sizes[player]);
    rest = Math.floor(rest / sizes[player]);
  }
  return actions;
}

/** A profile in few letters: of many players its digits. */
export function shortProfile(place, sizes) {
  const actions = actionsOf(place, sizes);
  return sizes.length > 4 && Math.max(...sizes) < 11 ? actions.join("") : profileName(place, sizes);
}

/** A profile as people read it. */
export function profileName(place, sizes) {
  return `(${actionsOf(place, sizes).join(", ")})`;
}
