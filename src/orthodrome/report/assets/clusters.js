// Clusters: a list of them, and of the chosen one its profile with intervals and its surest and least sure rows.
// data: {clusters: [{rows, weight, bounds, together, entries: [[name, mean, low, high, all]], members: [[name, p]]}]}

function drawClusters(box, { clusters }) {
  const list = el("ul", { class: "topic-list" }), panel = el("div", { class: "panel" });
  const show = (k) => {
    [...list.querySelectorAll("button")].forEach((one, i) => one.setAttribute("aria-pressed", String(i === k)));
    panel.replaceChildren(...clusterPanel(clusters[k], k));
    say(`Cluster ${k}`);
  };
  list.append(...clusters.map((one, k) => el("li", {}, button(
    [el("strong", {}, `Cluster ${k}`), el("span", { class: "share" }, `${one.rows} rows, ${percent(one.weight)}`)],
    () => show(k), { "aria-pressed": "false" }))));
  box.append(el("div", { class: "explorer narrow" }, list, panel));
  show(0);
}

function clusterPanel(one, k) {
  const rows = one.entries.map(([name, mean, low, high, all]) => ({ name, mean, bounds: [low, high], reference: all }));
  const facts = `${one.rows} rows; weight ${percent(one.weight)} (${percent(one.bounds[0])} to ${percent(one.bounds[1])}); ` +
    `two of its rows are together with probability ${short(one.together, 2)}`;
  const members = one.members.map(([name, p]) => ({ name, mean: p, text: percent(p, 0) }));
  return [el("h3", {}, `Cluster ${k}`), el("p", { class: "note" }, facts),
    longIntervals(rows, { label: `Profile of cluster ${k}` }),
    el("p", { class: "note" }, "Lines hold 90 per cent of the draws; grey marks are all rows."),
    el("h3", {}, "Its rows, the surest first"), longIntervals(members, { bars: true, first: 10, label: `Rows of cluster ${k}` })];
}
