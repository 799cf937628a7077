// The light and the dark theme: the system's, or the one chosen here.

function addTheme() {
  const toggle = document.getElementById("theme");
  const label = () => (toggle.textContent = isDark() ? "Light" : "Dark");
  toggle.addEventListener("click", () => {
    document.documentElement.dataset.theme = isDark() ? "light" : "dark";
    label();
    redrawAll();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => (label(), redrawAll()));
  label();
}
