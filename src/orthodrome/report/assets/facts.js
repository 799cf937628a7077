// What was run: lists of names and values.

function drawFacts(box, { run, variables, settings }) {
  box.append(el("div", { class: "columns" }, pairs("The run", run), settings.length ? pairs("Findings and settings", settings) : null));
  box.append(table({ caption: "Variables", head: ["variable", "one draw", "lives on"], rows: variables }));
}

function pairs(title, rows) {
  const list = rows.flatMap(([name, value]) => [
    el("dt", {}, name), el("dd", {}, word(typeof value === "number" ? short(value) : value)),
  ]);
  return el("div", {}, el("h3", {}, title), el("dl", { class: "pairs" }, ...list));
}
