(function () {
  "use strict";
  var root = document.documentElement;
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
  button.hidden = false;
  button.addEventListener("click", function () {
    var theme = dark() ? "light" : "dark";
    root.setAttribute("data-theme", theme);
    remember(theme);
    label();
  });
  system.addEventListener("change", label);
  label();

  function open(claim) {
    var inside = claim && claim.querySelector("details");
    if (inside) inside.open = true;
  }
  function follow() {
    var name = window.location.hash.slice(1);
    if (name.indexOf("claim-") === 0) open(document.getElementById(name));
  }
  window.addEventListener("hashchange", follow);
  follow();

  var closed = []; // paper cannot be clicked
  window.addEventListener("beforeprint", function () {
    closed = Array.prototype.slice.call(document.querySelectorAll("details:not([open])"));
    closed.forEach(function (one) { one.open = true; });
  });
  window.addEventListener("afterprint", function () {
    closed.forEach(function (one) { one.open = false; });
  });
})();
