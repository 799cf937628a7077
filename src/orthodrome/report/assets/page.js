// The page: its sections in order, the list of them at the top, and the theme.

const DRAW = {
  facts: drawFacts,
  health: drawHealth,
  traces: drawTraces,
  variables: drawVariables,
  intervals: drawIntervals,
  sphere: drawSphere,
  circle: drawCircle,
  plane: drawPlane,
  ternary: drawTernary,
  network: drawNetwork,
  heatmap: drawHeatmap,
  topics: drawTopics,
  clusters: drawClusters,
};

function addSection(main, contents, section, i) {
  const id = `section-${i}`;
  const box = el("div", { class: "picture", "data-kind": section.kind });
  contents.append(el("a", { href: `#${id}` }, section.title));
  main.append(el("section", { id, "aria-labelledby": `${id}-title` },
    el("h2", { id: `${id}-title` }, section.title), el("p", { class: "lead" }, section.text), box));
  DRAW[section.kind](box, section.data, section);
  if (section.table) box.after(twin(section.table));
}

// Paper is white: print in the light theme, and go back afterwards.
function addPrinting() {
  let before;
  addEventListener("beforeprint", () => {
    before = document.documentElement.dataset.theme;
    document.documentElement.dataset.theme = "light";
    redrawAll();
  });
  addEventListener("afterprint", () => {
    if (before === undefined) delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = before;
    redrawAll();
  });
}

const content = JSON.parse(document.getElementById("content").textContent);
const main = document.getElementById("main");
main.querySelector(".summary").before(el("h1", {}, word(content.title)));
content.sections.forEach((section, i) => addSection(main, document.getElementById("contents"), section, i));
addTheme();
addPrinting();
document.documentElement.dataset.ready = "yes";
