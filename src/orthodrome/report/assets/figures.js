// What every picture has: its size follows its place, its colours follow the theme, and a table is its twin.

const redraws = new Set();
const resolved = new Map();

// The colour of a custom property of the style, as canvases need it.
function colour(name) {
  if (!resolved.has(name)) {
    const probe = el("span");
    probe.style.color = `var(--${name})`;
    document.body.append(probe);
    resolved.set(name, getComputedStyle(probe).color);
    probe.remove();
  }
  return resolved.get(name);
}

function isDark() {
  const own = document.documentElement.dataset.theme;
  return own ? own === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

function redrawAll() {
  resolved.clear();
  for (const redraw of redraws) redraw();
}

// The colour of one of many groups: neighbours in number differ in hue.
function hue(i, alpha = 1) {
  const angle = (215 + i * 137.508) % 360;
  const [saturation, light] = isDark() ? [62, 66 - 8 * (i % 3)] : [58, 36 + 8 * (i % 3)];
  return `hsl(${angle.toFixed(1)} ${saturation}% ${light}% / ${alpha})`;
}

// Draw into a box, and again whenever its width or the theme changes; returns the function that draws again.
function responsive(box, draw) {
  let width = 0;
  const redraw = () => width > 0 && draw(width);
  new ResizeObserver((entries) => {
    const now = Math.floor(entries[0].contentRect.width);
    if (now > 0 && now !== width) {
      width = now;
      redraw();
    }
  }).observe(box);
  redraws.add(redraw);
  return redraw;
}

const AT_ONCE = 200;

function table({ caption, head, rows }) {
  const body = el("tbody");
  const add = (begin) => body.append(...rows.slice(begin, begin + AT_ONCE).map(tableRow));
  const columns = el("tr", {}, ...head.map((name) => el("th", { scope: "col" }, name)));
  const whole = el("table", {}, el("caption", {}, caption), el("thead", {}, columns), body);
  const box = el("div", { class: "scroll", tabindex: 0, role: "group", "aria-label": caption }, whole);
  add(0);
  if (rows.length > AT_ONCE) {
    const more = button(`Show all ${rows.length.toLocaleString("en")} rows`, () => {
      for (let begin = AT_ONCE; begin < rows.length; begin += AT_ONCE) add(begin);
      more.remove();
    });
    box.append(more);
  }
  return box;
}

function tableRow(row) {
  return el("tr", {}, ...row.map((cell) => {
    const number = typeof cell === "number" || cell === null;
    return el("td", { class: number ? "number" : undefined }, number ? short(cell, 4) : word(cell));
  }));
}

// The twin of a picture, made when it is opened.
function twin(content) {
  const details = el("details", { class: "twin" }, el("summary", {}, "The same as a table"));
  details.addEventListener("toggle", () => {
    if (details.open && details.childElementCount === 1) details.append(table(content));
  });
  return details;
}
