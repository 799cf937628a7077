// A simplex seen through three of its parts: each draw at the share of the three among themselves.
// data: {names, draws (draw x part), chosen: [i, j, k]}

const CORNERS = [[0.5, 0], [0, 1], [1, 1]];

function drawTernary(box, { names, draws, chosen }) {
  const rows = unpackRows(draws), corners = [...chosen];
  const canvas = newCanvas("");
  const place = el("div", {}, canvas);
  const redraw = responsive(place, (width) => {
    canvas.setAttribute("aria-label", `A triangle with ${rows.length} draws of ${corners.map((k) => names[k]).join(", ")}`);
    paintTernary(canvas, rows, corners, names, Math.min(width, 480));
  });
  if (names.length > 3) {
    box.append(el("div", { class: "tools" }, ...corners.map((k, corner) => choice(["Top", "Left", "Right"][corner], names, (chosenOne) => {
      corners[corner] = chosenOne;
      redraw();
    }, k))));
  }
  box.append(place);
}

function paintTernary(canvas, rows, corners, names, side) {
  const height = (side - 40) * 0.866, context = sized(canvas, side, height + 56);
  const at = (shares) => [0, 1].map((axis) => shares.reduce((sum, share, c) => sum + share * CORNERS[c][axis], 0));
  const spot = (shares) => {
    const [x, y] = at(shares);
    return [20 + x * (side - 40), 26 + y * height];
  };
  context.strokeStyle = colour("line");
  for (const level of [0.2, 0.4, 0.6, 0.8]) for (const c of [0, 1, 2]) {
    const ends = [1, 2].map((other) => [0, 1, 2].map((k) => (k === c ? level : k === (c + other) % 3 ? 1 - level : 0)));
    stroke(context, ends.map(spot));
  }
  context.strokeStyle = colour("muted");
  stroke(context, [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 0]].map(spot));
  context.fillStyle = colour("chain-0");
  context.globalAlpha = Math.min(0.6, 300 / rows.length + 0.15);
  for (const row of rows) {
    const parts = corners.map((k) => row[k]), total = parts[0] + parts[1] + parts[2];
    if (total > 0) dot(context, ...spot(parts.map((part) => part / total)), 2);
  }
  context.globalAlpha = 1;
  context.fillStyle = colour("ink");
  context.font = "13px system-ui, sans-serif";
  [["center", 14], ["left", height + 46], ["right", height + 46]].forEach(([align, y], c) => {
    context.textAlign = align;
    context.fillText(names[corners[c]].slice(0, 24), [side / 2, 4, side - 4][c], y);
  });
}
