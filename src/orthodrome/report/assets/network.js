// A network: nodes at their places with its edges; a chosen node with its most probable neighbours.
// data: {nodes, places (node x 2), links (pairs), probability, observed}

function drawNetwork(box, data) {
  const places = unpackRows(data.places), probability = unpackRows(data.probability), observed = unpackRows(data.observed);
  const links = unpackRows(data.links), state = { node: data.first };
  const canvas = newCanvas(`A map of ${data.nodes.length} nodes and ${links.length} edges`);
  const place = el("div", {}, canvas), side = el("div");
  let spots = [];
  const redraw = responsive(place, (width) => {
    const size = [Math.min(width, 560), Math.min(width, 440)];
    spots = placed(places, size);
    paintNetwork(sized(canvas, ...size), spots, links, data.nodes, state.node);
  });
  const show = (node) => {
    state.node = node;
    picker.querySelector("select").selectedIndex = node;
    side.replaceChildren(...neighbours(data.nodes, probability[node], observed[node], node, show));
    redraw();
    say(`Node ${data.nodes[node]}`);
  };
  const picker = choice("Node", data.nodes, show, state.node);
  canvas.addEventListener("click", (event) => {
    const [x, y] = pointerAt(canvas, event);
    const far = spots.map((spot) => Math.hypot(spot[0] - x, spot[1] - y));
    show(far.indexOf(Math.min(...far)));
  });
  box.append(el("div", { class: "two" }, place, el("div", {}, picker, side)));
  show(state.node);
}

function placed(places, [width, height]) {
  const X = linear(extent(places.map((p) => p[0])), [24, width - 24]), Y = linear(extent(places.map((p) => p[1])), [height - 20, 20]);
  return places.map(([x, y]) => [X(x), Y(y)]);
}

function paintNetwork(context, spots, links, nodes, chosen) {
  context.strokeStyle = colour("muted");
  for (const [from, to] of links) {
    const own = from === chosen || to === chosen;
    context.globalAlpha = own ? 0.9 : Math.min(0.35, 0.08 + 40 / links.length);
    context.strokeStyle = colour(own ? "negative" : "muted");
    stroke(context, [spots[from], spots[to]]);
  }
  context.globalAlpha = 1;
  spots.forEach(([x, y], k) => {
    context.fillStyle = colour(k === chosen ? "negative" : "chain-0");
    dot(context, x, y, k === chosen ? 6 : 3.5);
  });
  context.font = "12px system-ui, sans-serif";
  context.textAlign = "center";
  for (const k of nodes.length <= 40 ? nodes.keys() : [chosen]) outlined(context, nodes[k].slice(0, 20), spots[k][0], spots[k][1] - 8, "ink");
}

// A text that can be read on any background.
function outlined(context, text, x, y, tone) {
  context.lineJoin = "round";
  context.lineWidth = 3;
  context.strokeStyle = colour("sheet");
  context.strokeText(text, x, y);
  context.lineWidth = 1;
  context.fillStyle = tone.includes("(") ? tone : colour(tone);
  context.fillText(text, x, y);
}

const NEIGHBOURS = 12;

function neighbours(nodes, probability, observed, node, pick) {
  const others = Array.from(nodes.keys()).filter((k) => k !== node);
  others.sort((a, b) => probability[b] - probability[a]);
  const rows = others.slice(0, NEIGHBOURS).map((k) => {
    const seen = Number.isNaN(observed[k]) ? "not observed" : observed[k] > 0.5 ? "edge" : "no edge";
    return { name: nodes[k], mean: probability[k], text: `${percent(probability[k], 0)}, ${seen}`, pick: () => pick(k) };
  });
  return [el("h3", {}, "Most probable neighbours of ", word(nodes[node])),
    intervals(rows, { bars: true, range: [0, 1], label: `Most probable neighbours of ${nodes[node]}` })];
}
