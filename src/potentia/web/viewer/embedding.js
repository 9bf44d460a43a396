// A page and what is around it: that it runs, and in a frame light or dark as the page around it says, which cannot reach
// in and does not share its storage.

/** Listen to whoever embeds this page; anybody else, and anything but a theme, is not heard. */
export function obeyEmbedder() {
  if (window.parent === window) return;
  window.addEventListener("message", ({ source, data }) => {
    if (source !== window.parent || !["light", "dark"].includes(data?.theme)) return;
    document.documentElement.dataset.theme = data.theme;
    window.dispatchEvent(new Event("resize")); // what is painted is painted again
  });
}

/** Take away the sentence that a page shows where its script does not run. */
export function started() {
  document.getElementById("not-started").remove();
}
