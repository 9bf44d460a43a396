// Paper is light, whatever the screen is.

/** Give a viewer the look of paper, or the one it had before. */
export function dressForPrint(viewer, printing) {
  const { dataset } = document.documentElement;
  if (printing) {
    viewer.themeBefore = dataset.theme ?? "";
    dataset.theme = "light";
  } else if (viewer.themeBefore) {
    dataset.theme = viewer.themeBefore;
  } else {
    delete dataset.theme;
  }
  viewer.resize();
  viewer.drawAll();
}
