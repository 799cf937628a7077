// The sphere, to be turned: a density on it, and points of several kinds.
// data: {layers: [{name, points, mean}], density: {name, grid}, view}; points on the far side are pale.

function drawSphere(box, data) {
  const layers = data.layers.map((one, k) => ({ ...one, points: unpackRows(one.points), on: true, tone: `chain-${k % 8}` }));
  const density = data.density ? { ...data.density, rows: unpackRows(data.density.grid), on: true } : null;
  const canvas = newCanvas(sphereLabel(layers, density), { tabindex: 0 });
  const place = el("div", { class: "globe" }, canvas);
  let turn = facing(data.view), radius = 150, middle = 160;
  const redraw = responsive(place, (width) => {
    middle = Math.min(width, 480) / 2;
    radius = middle - 10;
    paintSphere(sized(canvas, 2 * middle, 2 * middle), turn, radius, middle, layers, density);
  });
  const rotate = (across, down) => {
    turn = product(about(1, across), product(about(0, down), turn));
    canvas.dataset.turn = turn.flat().map((value) => value.toFixed(4)).join(" ");
    redraw();
  };
  addDragging(canvas, (dx, dy) => rotate(dx / radius, dy / radius));
  addTurningKeys(canvas, rotate);
  const step = Math.PI / 12;
  const turns = [["←", "Turn left", -step, 0], ["→", "Turn right", step, 0], ["↑", "Turn up", 0, -step], ["↓", "Turn down", 0, step]];
  const behind = ["⟲", "Show the other side", Math.PI, 0];
  const tools = el("div", { class: "tools" }, ...[...turns, behind].map(([sign, name, across, down]) =>
    button(sign, () => rotate(across, down), { "aria-label": name, title: name })));
  const toggles = el("div", { class: "tools" }, ...[density, ...layers].filter(Boolean).map((one) =>
    checkbox(one.name, true, (on) => {
      one.on = on;
      redraw();
    }, swatchOf(one === density ? "ramp" : one.tone))));
  box.append(el("div", { class: "beside" }, place, el("div", {}, toggles, tools,
    el("p", { class: "note" }, "Drag the globe, or use the buttons or the arrow keys, to turn it. Crosses mark mean directions."))));
}

function swatchOf(tone) {
  const swatch = el("span", { class: "swatch", "aria-hidden": "true" });
  swatch.style.background = `var(--${tone})`;
  return swatch;
}

function sphereLabel(layers, density) {
  const parts = layers.map((one) => `${one.points.length} points: ${one.name}`);
  return `A globe with ${[...parts, ...(density ? [density.name] : [])].join("; ")}`;
}

function addDragging(canvas, move) {
  let last = null;
  canvas.addEventListener("pointerdown", (event) => {
    last = [event.clientX, event.clientY];
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!last) return;
    move(event.clientX - last[0], event.clientY - last[1]);
    last = [event.clientX, event.clientY];
  });
  for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, () => (last = null));
}

function addTurningKeys(canvas, rotate) {
  const by = 0.12;
  const keys = { ArrowLeft: [-by, 0], ArrowRight: [by, 0], ArrowUp: [0, -by], ArrowDown: [0, by] };
  canvas.addEventListener("keydown", (event) => {
    if (!keys[event.key]) return;
    event.preventDefault();
    rotate(...keys[event.key]);
  });
}

// A rotation about the first or second axis of the screen.
function about(axis, angle) {
  const c = Math.cos(angle), s = Math.sin(angle);
  return axis === 0 ? [[1, 0, 0], [0, c, -s], [0, s, c]] : [[c, 0, s], [0, 1, 0], [-s, 0, c]];
}

function product(a, b) {
  return a.map((row) => [0, 1, 2].map((j) => row[0] * b[0][j] + row[1] * b[1][j] + row[2] * b[2][j]));
}

// The rotation whose rows are right, down and towards the viewer, for a viewer above the point.
function facing([x, y, z]) {
  const flat = Math.hypot(x, y);
  const right = flat > 1e-9 ? [-y / flat, x / flat, 0] : [1, 0, 0];
  const down = [right[1] * z - right[2] * y, right[2] * x - right[0] * z, right[0] * y - right[1] * x];
  return [right, down, [x, y, z]];
}
