// A chart in SVG with axes: scales, ticks, and a layer to draw on.

function chart({ width, height, x, y, label, xLabel = "", yTicks = 4, left = 52, bottom = 34, top = 8, right = 10 }) {
  const X = linear(x, [left, width - right]);
  const Y = linear(y, [height - bottom, top]);
  const root = svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label });
  const grid = svg("g", { class: "axis", "aria-hidden": "true" });
  for (const at of ticks(x, width / 90)) {
    const anchor = X(at) + 4 * short(at).length > width ? "end" : "middle"; // the last one is not cut off
    grid.append(svg("text", { x: X(at), y: height - bottom + 16, "text-anchor": anchor }, short(at)));
  }
  for (const at of ticks(y, yTicks)) {
    grid.append(svg("line", { x1: left, x2: width - right, y1: Y(at), y2: Y(at) }));
    grid.append(svg("text", { x: left - 6, y: Y(at) + 4, "text-anchor": "end" }, short(at)));
  }
  if (xLabel) {
    grid.append(svg("text", { x: (left + width - right) / 2, y: height - 3, "text-anchor": "middle" }, xLabel));
  }
  root.append(grid);
  return { root, X, Y };
}

function path(points) {
  let text = "", pen = "M";
  for (const [x, y] of points) {
    if (Number.isNaN(y)) pen = "M";
    else {
      text += `${pen}${x.toFixed(1)} ${y.toFixed(1)}`;
      pen = "L";
    }
  }
  return text;
}

function legend(names, colours) {
  const entries = names.map((name, i) => {
    const swatch = el("span", { class: "swatch" });
    swatch.style.background = colours[i];
    return el("li", {}, swatch, word(name));
  });
  return el("ul", { class: "legend" }, ...entries);
}
