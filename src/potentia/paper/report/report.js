(function () {
  "use strict";
  var root = document.documentElement;
  function all(selector, within) {
    return Array.prototype.slice.call((within || document).querySelectorAll(selector));
  }

  // Light and dark
  var button = document.getElementById("theme");
  var key = "potentia-theme";
  var system = window.matchMedia("(prefers-color-scheme: dark)");
  function remember(theme) {
    try { window.localStorage.setItem(key, theme); } catch (error) { return; } // files may have no storage
  }
  function dark() {
    var chosen = root.getAttribute("data-theme");
    return chosen ? chosen === "dark" : system.matches;
  }
  function label() {
    button.textContent = dark() ? "Light" : "Dark";
    button.setAttribute("aria-label", dark() ? "Switch to light colours" : "Switch to dark colours");
  }
  var frames = all("iframe"); // which do not see what was chosen here
  function dress(frame) {
    var chosen = root.getAttribute("data-theme");
    if (chosen) frame.contentWindow.postMessage({ theme: chosen }, "*");
  }
  frames.forEach(function (frame) {
    dress(frame);
    frame.addEventListener("load", function () { dress(frame); });
  });
  button.hidden = false;
  button.addEventListener("click", function () {
    var theme = dark() ? "light" : "dark";
    root.setAttribute("data-theme", theme);
    remember(theme);
    label();
    frames.forEach(dress);
  });
  system.addEventListener("change", label);
  label();

  // Two profiles: the shares of the long run, e^(Φ/τ) over the sum of both, and odds that do not overflow
  function twoProfiles(box) {
    var slider = box.querySelector("input");
    var bars = all(".bar", box);
    function show() {
      var tau = Math.pow(10, Number(slider.value));
      var values = bars.map(function (bar) { return Number(bar.getAttribute("data-potential")); });
      var best = Math.max.apply(null, values);
      var weights = values.map(function (value) { return Math.exp((value - best) / tau); });
      var sum = weights.reduce(function (a, b) { return a + b; });
      bars.forEach(function (bar, k) {
        var percent = 100 * weights[k] / sum;
        bar.querySelector(".fill").style.width = percent + "%";
        bar.querySelector("output").textContent = Math.min(percent, 100 - percent) < 0.05
          ? (percent > 50 ? "over 99.9 %" : "under 0.1 %") : percent.toFixed(1) + " %";
      });
      slider.setAttribute("aria-valuetext", tau.toPrecision(2));
      box.querySelector("#two-told").textContent = tau.toPrecision(2);
    }
    slider.addEventListener("input", show);
    box.hidden = false;
    show();
  }
  all("#two-profiles").forEach(twoProfiles);

  // The claims of some verdicts; none pressed shows all
  var buttons = all("#filter button");
  function filter() {
    var wanted = buttons.filter(function (one) { return one.getAttribute("aria-pressed") === "true"; });
    var kinds = wanted.map(function (one) { return one.getAttribute("data-kind"); });
    var shown = 0, of = 0;
    var rows = all(".claims > tbody");
    rows.forEach(function (row) {
      if (row.classList.contains("group")) return;
      row.hidden = kinds.length > 0 && kinds.indexOf(row.getAttribute("data-kind")) < 0;
      shown += row.hidden ? 0 : 1;
      of += 1;
    });
    rows.forEach(function (group, k) { // a heading goes with the last of its claims
      if (!group.classList.contains("group")) return;
      var after = rows.slice(k + 1);
      var next = after.findIndex(function (row) { return row.classList.contains("group"); });
      group.hidden = !after.slice(0, next < 0 ? after.length : next).some(function (row) { return !row.hidden; });
    });
    document.getElementById("filtered").textContent = shown + " of " + of + " claims shown";
  }
  buttons.forEach(function (one) {
    one.disabled = false;
    one.addEventListener("click", function () {
      one.setAttribute("aria-pressed", one.getAttribute("aria-pressed") === "true" ? "false" : "true");
      filter();
    });
  });

  // A link to a claim opens it, and shows it where it was filtered out
  function follow() {
    var goal = document.getElementById(window.location.hash.slice(1));
    if (!goal) return;
    if (goal.hidden) {
      buttons.forEach(function (one) { one.setAttribute("aria-pressed", "false"); });
      filter();
    }
    if (goal.tagName === "DETAILS") goal.open = true;
    goal.scrollIntoView();
  }
  window.addEventListener("hashchange", follow);
  if (window.location.hash) follow();

  var closed = []; // paper cannot be clicked
  window.addEventListener("beforeprint", function () {
    closed = all("details:not([open]):not(.screen)");
    closed.forEach(function (one) { one.open = true; });
  });
  window.addEventListener("afterprint", function () {
    closed.forEach(function (one) { one.open = false; });
  });
})();
