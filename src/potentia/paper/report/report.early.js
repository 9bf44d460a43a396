try { // before anything is drawn, so that nothing flashes; files may have no storage
  var theme = window.localStorage.getItem("potentia-theme");
  if (theme === "dark" || theme === "light") document.documentElement.setAttribute("data-theme", theme);
} catch (error) { theme = null; }
document.documentElement.classList.add("moves"); // there is a script: replays and sliders work
