// Points in a plane over a density: pairs of angles on a torus, cut open at its edges.
// data: {x, y (names), range: [[low, high], [low, high]], layers: [{name, points}], density: {name, grid}}

function drawPlane(box, data) {
  const layers = data.layers.map((one) => ({ ...one, points: unpackRows(one.points) }));
  const canvas = newCanvas(`${data.y} against ${data.x}: ${layers.map((one) => `${one.points.length} points, ${one.name}`).join("; ")}`);
  const place = el("div", {}, canvas);
  responsive(place, (width) => paintPlane(canvas, data, layers, Math.min(width, 460)));
  const names = [...(data.density ? [data.density.name] : []), ...layers.map((one) => one.name)];
  const tones = [...(data.density ? ["var(--ramp)"] : []), ...layers.map((_, k) => `var(--chain-${k})`)];
  box.append(place, legend(names, tones));
}

function paintPlane(canvas, data, layers, side) {
  const edge = 52, context = sized(canvas, side, side);
  const X = linear(data.range[0], [edge, side - 8]), Y = linear(data.range[1], [side - edge, 8]);
  if (data.density) {
    const rows = unpackRows(data.density.grid), small = el("canvas", { width: rows[0].length, height: rows.length });
    const image = new ImageData(rows[0].length, rows.length), from = channels(colour("sheet")), to = channels(colour("ramp"));
    rows.forEach((row, i) => row.forEach((value, j) => image.data.set([...mixed(from, to, value), 255], 4 * ((rows.length - 1 - i) * row.length + j))));
    small.getContext("2d").putImageData(image, 0, 0);
    context.drawImage(small, edge, 8, side - 8 - edge, side - edge - 8);
  }
  layers.forEach((one, k) => {
    context.fillStyle = colour(`chain-${k}`);
    context.globalAlpha = 0.55;
    for (const [x, y] of one.points) dot(context, X(x), Y(y), 2);
  });
  context.globalAlpha = 1;
  context.strokeStyle = colour("line");
  context.strokeRect(edge, 8, side - 8 - edge, side - edge - 8);
  context.fillStyle = colour("muted");
  context.font = "12px system-ui, sans-serif";
  context.textAlign = "center";
  for (const at of quarters(data.range[0])) context.fillText(wrapped(at), X(at), side - edge + 16);
  context.fillText(data.x, (edge + side) / 2, side - 6);
  context.textAlign = "right";
  for (const at of quarters(data.range[1])) context.fillText(wrapped(at), edge - 5, Y(at) + 4);
  context.save();
  context.translate(11, side / 2);
  context.rotate(-Math.PI / 2);
  context.textAlign = "center";
  context.fillText(data.y, 0, 0);
  context.restore();
}

// the quarter turns in a range of degrees, and a number of degrees as people write it, from -90 to 180
function quarters([low, high]) {
  const first = Math.ceil(low / 90);
  return Array.from({ length: Math.floor(high / 90) - first + 1 }, (_, k) => 90 * (first + k));
}

function wrapped(degrees) {
  const turn = ((degrees % 360) + 360) % 360;
  return `${turn > 180 ? turn - 360 : turn}°`;
}
