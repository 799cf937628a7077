// A matrix of probabilities as an image, with the cell under the pointer or the arrow keys in words.
// data: {matrices: [{name, values}], names, ends (where groups of rows end), rowTitle, columnTitle, what}

function drawHeatmap(box, data) {
  const shownOne = data.matrices.map((one) => ({ name: one.name, rows: unpackRows(one.values) }));
  const readout = el("p", { class: "note readout", "aria-live": "polite" }, "Point at a cell, or use the arrow keys, to read it.");
  const images = shownOne.map((one) => heatImage(one, data, readout));
  box.append(el("div", { class: images.length > 1 ? "two" : "" }, ...images), readout, ramp(data.what));
}

function heatImage(one, data, readout) {
  const canvas = newCanvas(`${one.name}: a matrix of ${one.rows.length} rows and ${one.rows[0].length} columns`, { tabindex: 0 });
  const place = el("div", {}, canvas);
  const size = one.rows.length, across = one.rows[0].length;
  let cell = 1, edge = 0, cursor = [0, 0];
  responsive(place, (width) => {
    const whole = Math.min(width, 520);
    edge = size <= FEW ? Math.min(110, whole / 4) : 0;
    cell = (whole - edge) / across;
    paintMatrix(canvas, one.rows, cell, edge, data);
  });
  const tell = (row, column) => {
    cursor = [Math.max(0, Math.min(size - 1, row)), Math.max(0, Math.min(across - 1, column))];
    const names = [data.names[cursor[0]], (data.columns || data.names)[cursor[1]]];
    readout.textContent = `${one.name}: ${names[0]}, ${names[1]}: ${short(one.rows[cursor[0]][cursor[1]])}`;
  };
  canvas.addEventListener("pointermove", (event) => {
    const [x, y] = pointerAt(canvas, event);
    tell(Math.floor((y - edge) / cell), Math.floor((x - edge) / cell));
  });
  canvas.addEventListener("keydown", (event) => {
    const move = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    if (!move) return;
    event.preventDefault();
    tell(cursor[0] + move[0], cursor[1] + move[1]);
  });
  return el("figure", { class: "plain" }, el("figcaption", {}, one.name), place);
}

// Matrices of a few rows have names on their edges.
const FEW = 24;

function paintMatrix(canvas, rows, cell, edge, data) {
  const across = rows[0].length, width = cell * across, height = cell * rows.length;
  const context = sized(canvas, edge + width, edge + height);
  const small = el("canvas", { width: across, height: rows.length });
  const image = new ImageData(across, rows.length);
  const from = channels(colour("sheet")), to = channels(colour("ramp")), none = channels(colour("line"));
  rows.forEach((row, i) => row.forEach((value, j) => {
    const parts = Number.isNaN(value) ? none : mixed(from, to, Math.max(0, Math.min(1, value)));
    image.data.set([...parts, 255], 4 * (i * across + j));
  }));
  small.getContext("2d").putImageData(image, 0, 0);
  context.imageSmoothingEnabled = false;
  context.drawImage(small, edge, edge, width, height);
  context.strokeStyle = colour("negative");
  for (const end of data.ends || []) {
    stroke(context, [[edge, edge + end * cell], [edge + width, edge + end * cell]]);
    stroke(context, [[edge + end * cell, edge], [edge + end * cell, edge + height]]);
  }
  context.strokeStyle = colour("line");
  context.strokeRect(edge + 0.5, edge + 0.5, width - 1, height - 1);
  if (edge) paintNames(context, data.names, cell, edge);
}

function paintNames(context, names, cell, edge) {
  context.fillStyle = colour("ink");
  context.font = "12px system-ui, sans-serif";
  context.textAlign = "right";
  names.forEach((name, k) => context.fillText(name.slice(0, 16), edge - 6, edge + (k + 0.5) * cell + 4, edge - 8));
  context.textAlign = "left";
  names.forEach((name, k) => {
    context.save();
    context.translate(edge + (k + 0.5) * cell + 4, edge - 6);
    context.rotate(-Math.PI / 2);
    context.fillText(name.slice(0, 16), 0, 0, edge - 8);
    context.restore();
  });
}

function ramp(what) {
  return el("p", { class: "note ramp" }, "0 ", el("span", { class: "gradient", "aria-hidden": "true" }), ` 1: ${what}`);
}
