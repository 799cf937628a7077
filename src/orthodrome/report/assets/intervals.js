// Intervals and bars as a list: a name, a track with bar, interval and marks, and the number in words.
// rows: {name, mean, bounds: [5 %, 25 %, 75 %, 95 %] or [low, high], reference, tone, pick, text}

function intervals(rows, { bars = false, range = null, label = "" } = {}) {
  const all = rows.flatMap((row) => [row.mean, ...(row.bounds || []), row.reference ?? row.mean]);
  const [low, high] = range || padded(all, bars);
  const at = (value) => `${(100 * (Math.min(high, Math.max(low, value)) - low)) / (high - low)}%`;
  return el("ul", { class: "intervals", "aria-label": label || undefined }, ...rows.map((row) => {
    const track = el("div", { class: "track", "aria-hidden": "true" });
    if (low < 0 && high > 0) track.append(mark("zero", at(0)));
    if (bars) track.append(span(`bar ${row.tone || ""}`, low, high, Math.min(0, row.mean), Math.max(0, row.mean)));
    const bounds = row.bounds || [];
    if (bounds.length) track.append(span("thin", low, high, bounds[0], bounds[bounds.length - 1]));
    if (bounds.length === 4) track.append(span("thick", low, high, bounds[1], bounds[2]));
    if (!bars) track.append(mark("mean", at(row.mean)));
    if (row.reference !== undefined) track.append(mark("reference", at(row.reference)));
    const name = row.pick ? button(word(row.name), row.pick, { class: "name link" }) : word(row.name, { class: "name" });
    return el("li", {}, name, track, el("span", { class: "value" }, row.text || intervalText(row)));
  }));
}

function padded(values, bars) {
  const [low, high] = extent(values.filter(Number.isFinite).concat(bars ? [0] : []));
  return bars ? [low, high] : [low - 0.03 * (high - low), high + 0.03 * (high - low)];
}

function span(kind, low, high, from, to) {
  const part = el("span", { class: kind });
  const inside = (value) => Math.min(high, Math.max(low, value));
  part.style.left = `${(100 * (inside(from) - low)) / (high - low)}%`;
  part.style.width = `${(100 * (inside(to) - inside(from))) / (high - low)}%`;
  return part;
}

function mark(kind, place) {
  const part = el("span", { class: kind });
  part.style.left = place;
  return part;
}

function intervalText({ mean, bounds }) {
  return bounds && bounds.length ? `${short(mean)} (${short(bounds[0])} to ${short(bounds[bounds.length - 1])})` : short(mean);
}

const FIRST_ROWS = 24;

// Intervals of which the first are shown, and the others on demand.
function longIntervals(rows, options) {
  const first = options.first || FIRST_ROWS;
  if (rows.length <= first) return intervals(rows, options);
  const range = padded(rows.flatMap((row) => [row.mean, ...(row.bounds || [])]), options.bars);
  const box = el("div", {}, intervals(rows.slice(0, first), { ...options, range }));
  const more = button(`Show all ${rows.length}`, () => box.replaceChildren(intervals(rows, { ...options, range })));
  box.append(more);
  return box;
}

function drawVariables(box, { variables, label = "Variable" }) {
  const place = el("div");
  const show = (k) => {
    const one = variables[k];
    const rows = one.names.map((name, i) => ({ name, mean: one.mean[i], bounds: one.bounds[i] }));
    place.replaceChildren(...(one.note ? [el("p", { class: "note" }, one.note)] : []),
      longIntervals(rows, { label: `Intervals of ${one.name}` }));
  };
  if (variables.length > 1) box.append(choice(label, variables.map((one) => one.name), show));
  box.append(place);
  show(0);
}

// data: {groups: [{name, note, names, mean, bounds}], label (what a group is)}
function drawIntervals(box, data) {
  drawVariables(box, { variables: data.groups, label: data.label });
}
