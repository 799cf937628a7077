// The circle: a density around it as a curve, points on rings.
// data: {layers: [{name, angles, mean}], density: {name, values}, marks: what the four quarters are called}

function drawCircle(box, data) {
  const place = el("div");
  responsive(place, (width) => place.replaceChildren(circlePicture(data, Math.min(width, 420))));
  const names = [...(data.density ? [data.density.name] : []), ...data.layers.map((one) => one.name)];
  const tones = [...(data.density ? ["var(--ramp)"] : []), ...data.layers.map((_, k) => `var(--chain-${k})`)];
  box.append(place, legend(names, tones));
}

function circlePicture(data, side) {
  const middle = side / 2, inner = side * 0.27;
  const root = svg("svg", { width: side, height: side, viewBox: `0 0 ${side} ${side}`, role: "img", "aria-label": `A circle with ${data.layers.map((one) => one.name).join(", ")}` });
  const place = (angle, r) => [middle + r * Math.cos(angle), middle - r * Math.sin(angle)];
  root.append(svg("circle", { cx: middle, cy: middle, r: inner, class: "rim" }));
  data.marks.forEach((text, k) => {
    const [x, y] = place((k * Math.PI) / 2, inner * 0.68);
    root.append(svg("text", { x, y: y + 4, "text-anchor": "middle" }, text));
  });
  if (data.density) {
    const top = Math.max(...data.density.values), count = data.density.values.length;
    const curve = data.density.values.map((value, k) => place((2 * Math.PI * k) / count, inner + (side * 0.2 * value) / top));
    const around = `M${middle - inner} ${middle}a${inner} ${inner} 0 1 0 ${2 * inner} 0a${inner} ${inner} 0 1 0 ${-2 * inner} 0Z`;
    root.append(svg("path", { d: `${path([...curve, curve[0]])}Z${around}`, class: "curve" }));
  }
  data.layers.forEach((one, k) => {
    const angles = unpack(one.angles).values, r = inner - 4 - 5 * k;
    const group = svg("g");
    group.style.fill = `var(--chain-${k})`;
    for (const angle of angles) {
      const [cx, cy] = place(angle, r);
      group.append(svg("circle", { cx: cx.toFixed(1), cy: cy.toFixed(1), r: 2, opacity: 0.5 }));
    }
    root.append(group);
  });
  return root;
}
