// A run as it goes on: the page asks its own server every second how the run stands.

const NAMES = { rate: "Draws per second", acceptance: "Acceptance", temperature: "Temperature", ess: "Effective draws so far",
  log_perplexity: "Log-perplexity", perplexity: "Perplexity", score: "Log predictive density" };
const KIND = { running: "good", drawn: "good", finished: "good", "without results": "bad", interrupted: "", waiting: "", silent: "bad", stalled: "bad", gone: "bad", diverged: "bad", failed: "bad" };

const told = JSON.parse(document.getElementById("content").textContent);
const main = document.getElementById("main");
const verdict = el("div", { class: "verdict" }), progress = el("progress", { "aria-label": "Progress" });
const figures = el("dl", { class: "pairs" }), charts = el("div", { class: "two" });
const stop = button("Ask the run to stop at its next commit", async () => {
  stop.disabled = true;
  await fetch("stop", { method: "POST" });
  say("The run is asked to stop");
});
main.replaceChildren(el("h1", {}, word(told.title)), el("section", { "aria-label": "State" }, verdict, progress, figures, stop),
  el("section", { "aria-label": "Charts" }, charts));

function showLine(name, points) {
  let place = charts.querySelector(`[data-name="${name}"]`);
  if (!place) {
    place = el("figure", { class: "plain", "data-name": name }, el("figcaption", {}, NAMES[name]), el("div"));
    charts.append(place);
    const box = place.lastChild;
    place.redraw = responsive(box, (width) => {
      const xs = place.points.map((point) => point[0]), ys = place.points.map((point) => point[1]);
      const { root, X, Y } = chart({ width, height: 180, x: extent(xs), y: extent(ys), label: `${NAMES[name]} by draw`, xLabel: "draw" });
      const line = svg("path", { d: path(place.points.map(([x, y]) => [X(x), Y(y)])), class: "line" });
      line.style.stroke = "var(--chain-0)";
      root.append(line);
      box.replaceChildren(root);
    });
  }
  place.points = points;
  place.redraw();
}

let before = "";
function show(seen) {
  verdict.className = `verdict ${KIND[seen.state] ?? ""}`;
  verdict.replaceChildren(el("p", {}, seen.words + (seen.asked && !seen.over ? "; asked to stop" : "")));
  if (seen.state !== before) say(seen.words);
  before = seen.state;
  progress.max = seen.planned || 1;
  progress.value = seen.done;
  figures.replaceChildren(...seen.figures.flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]));
  stop.disabled = seen.asked || !seen.can_stop;
  for (const old of [...charts.children]) if (!(old.dataset.name in seen.lines)) old.remove(); // of another phase
  for (const [name, points] of Object.entries(seen.lines)) showLine(name, points);
}

async function ask() {
  try {
    show(await (await fetch("look")).json());
    document.documentElement.dataset.ready = "yes";
  } catch {
    verdict.className = "verdict bad";
    verdict.replaceChildren(el("p", {}, "The command that serves this page has ended."));
  }
  setTimeout(ask, 1000);
}

addTheme();
ask();
