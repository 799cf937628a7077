// Traces of the chains, and the ranks of their draws.

function drawTraces(box, { traces }) {
  const places = [el("div"), el("div")];
  let chosen = 0;
  const draw = places.map((place, k) => responsive(place, (width) => {
    const one = traces[chosen];
    place.replaceChildren((k ? rankPlot : tracePlot)(one, unpackRows(one.values), width));
  }));
  const names = traces.map((one) => (one.rhat === null ? one.name : `${one.name}  (R-hat ${short(one.rhat, 4)})`));
  box.append(choice("Number", names, (k) => {
    chosen = k;
    for (const redraw of draw) redraw();
    say(`Traces of ${traces[k].name}`);
  }));
  const chains = traces[0].values.shape[0];
  box.append(el("div", { class: "two" }, ...places));
  box.append(legend(Array.from({ length: chains }, (_, c) => `chain ${c}`), chainColours(chains)));
}

function chainColours(count) {
  return Array.from({ length: count }, (_, c) => `var(--chain-${c % 8})`);
}

function tracePlot(one, chains, width) {
  const [first, last] = one.at;
  const count = chains[0].length;
  const y = extent(chains.flatMap((values) => Array.from(values)));
  const label = `Traces of ${one.name}, ${chains.length} chains`;
  const { root, X, Y } = chart({ width, height: 230, x: [first, Math.max(last, first + 1)], y, label, xLabel: "draw" });
  chains.forEach((values, c) => {
    const points = Array.from(values, (value, i) => [X(first + ((last - first) * i) / Math.max(1, count - 1)), Y(value)]);
    const line = svg("path", { d: path(points), class: "line" });
    line.style.stroke = `var(--chain-${c % 8})`;
    root.append(line);
  });
  return root;
}

// A step line of counts for each chain, with the band in which nineteen of twenty bins of an honest chain lie.
function rankPlot(one, chains, width) {
  const rows = one.ranks, bins = rows[0].length;
  const total = rows[0].reduce((a, b) => a + b, 0), mean = total / bins;
  const spread = 1.96 * Math.sqrt(mean * (1 - 1 / bins));
  const top = Math.max(mean + spread, ...rows.flat()) * 1.05;
  const label = `Ranks of ${one.name} by chain; flat is good`;
  const { root, X, Y } = chart({ width, height: 230, x: [0, 100], y: [0, top], label, xLabel: "rank among all draws, %" });
  const low = Math.max(0, mean - spread);
  root.append(svg("rect", { class: "band", x: X(0), width: X(100) - X(0), y: Y(mean + spread), height: Y(low) - Y(mean + spread) }));
  rows.forEach((counts, c) => {
    const points = counts.flatMap((count, b) => [[X((100 * b) / bins), Y(count)], [X((100 * (b + 1)) / bins), Y(count)]]);
    const line = svg("path", { d: path(points), class: "line" });
    line.style.stroke = `var(--chain-${c % 8})`;
    root.append(line);
  });
  return root;
}
