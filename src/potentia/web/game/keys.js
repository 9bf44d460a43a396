// What keys do in the game stage, wherever the focus is.

/** Let a stage obey keys for as long as it is in the page; `more` has actions by key. */
export function obeyStageKeys(host, stage, more = {}) {
  const press = (event) => {
    if (!host.isConnected) return document.removeEventListener("keydown", press);
    if (event.defaultPrevented && event.key !== "Escape") return undefined; // which closes whatever is open
    if (event.ctrlKey || event.metaKey || event.altKey) return undefined;
    if (event.target.matches?.("input:not([type=range]):not([type=checkbox]), select, textarea")) return undefined;
    if (event.target.closest?.("dialog")) return undefined;
    if (/^[1-5]$/.test(event.key)) stage.lessons.open(Number(event.key) - 1);
    else if (event.key === "0") stage.change({ limit: !stage.state.limit });
    else if (event.key === "Escape") stage.change({ root: null, shown: null });
    else if (Object.hasOwn(more, event.key)) more[event.key]();
    else return undefined;
    return event.preventDefault();
  };
  document.addEventListener("keydown", press);
}
