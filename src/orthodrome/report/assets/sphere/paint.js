// The globe on a canvas: orthographic, the density pixel by pixel, the graticule, then the points from back to front.

function paintSphere(context, turn, radius, middle, layers, density) {
  const see = ([x, y, z]) => turn.map((row) => row[0] * x + row[1] * y + row[2] * z);
  context.fillStyle = colour("faint");
  dot(context, middle, middle, radius);
  if (density && density.on) paintDensity(context, turn, radius, middle, density.rows);
  paintGraticule(context, see, radius, middle);
  for (const front of [false, true]) {
    for (const layer of layers.filter((one) => one.on)) {
      context.fillStyle = colour(layer.tone);
      context.globalAlpha = front ? layer.alpha || 0.55 : 0.12;
      for (const point of layer.points) {
        const [x, y, z] = see(point);
        if (z > 0 === front) dot(context, middle + radius * x, middle + radius * y, layer.size || 1.8);
      }
    }
  }
  for (const layer of layers.filter((one) => one.on && one.mean)) paintMean(context, see(layer.mean), radius, middle, layer);
  context.globalAlpha = 1;
  context.strokeStyle = colour("muted");
  context.beginPath();
  context.arc(middle, middle, radius, 0, 2 * Math.PI);
  context.stroke();
}

function paintMean(context, [x, y, z], radius, middle, layer) {
  context.globalAlpha = z > 0 ? 1 : 0.3;
  for (const [width, tone] of [[6, "sheet"], [3, layer.tone]]) {
    context.lineWidth = width;
    context.strokeStyle = colour(tone);
    context.beginPath();
    for (const sign of [1, -1]) {
      context.moveTo(middle + radius * x - 7, middle + radius * y - 7 * sign);
      context.lineTo(middle + radius * x + 7, middle + radius * y + 7 * sign);
    }
    context.stroke();
  }
  context.lineWidth = 1;
}

const PIXELS = 300;

function paintDensity(context, turn, radius, middle, rows) {
  const small = el("canvas", { width: PIXELS, height: PIXELS });
  const image = new ImageData(PIXELS, PIXELS), from = channels(colour("sheet")), to = channels(colour("ramp"));
  const polar = rows.length, around = rows[0].length;
  for (let j = 0; j < PIXELS; j += 1) {
    for (let i = 0; i < PIXELS; i += 1) {
      const x = (2 * i + 1) / PIXELS - 1, y = (2 * j + 1) / PIXELS - 1, rest = 1 - x * x - y * y;
      if (rest < 0) continue;
      const z = Math.sqrt(rest);
      const [a, b, c] = [0, 1, 2].map((k) => turn[0][k] * x + turn[1][k] * y + turn[2][k] * z);
      const value = gridValue(rows, (Math.acos(Math.max(-1, Math.min(1, c))) / Math.PI) * polar - 0.5,
        ((Math.atan2(b, a) + Math.PI) / (2 * Math.PI)) * around - 0.5, polar, around);
      image.data.set([...mixed(from, to, value), 255], 4 * (j * PIXELS + i));
    }
  }
  small.getContext("2d").putImageData(image, 0, 0);
  context.drawImage(small, middle - radius, middle - radius, 2 * radius, 2 * radius);
}

// Bilinear in colatitude and longitude; around the globe the grid goes on.
function gridValue(rows, t, p, polar, around) {
  const i = Math.max(0, Math.min(polar - 2, Math.floor(t))), u = Math.max(0, Math.min(1, t - i));
  const j = Math.floor(p), v = p - j, left = ((j % around) + around) % around, right = (left + 1) % around;
  return (1 - u) * ((1 - v) * rows[i][left] + v * rows[i][right]) + u * ((1 - v) * rows[i + 1][left] + v * rows[i + 1][right]);
}

function paintGraticule(context, see, radius, middle) {
  context.strokeStyle = colour("muted");
  context.globalAlpha = 0.25;
  const circles = [];
  for (let k = 0; k < 6; k += 1) circles.push((s) => [Math.cos((k * Math.PI) / 6) * Math.cos(s), Math.sin((k * Math.PI) / 6) * Math.cos(s), Math.sin(s)]);
  for (const latitude of [-60, -30, 0, 30, 60].map((d) => (d * Math.PI) / 180)) {
    circles.push((s) => [Math.cos(latitude) * Math.cos(s), Math.cos(latitude) * Math.sin(s), Math.sin(latitude)]);
  }
  for (const circle of circles) {
    context.beginPath();
    let pen = false;
    for (let s = 0; s <= 72; s += 1) {
      const [x, y, z] = see(circle((s * Math.PI) / 36));
      if (z < 0) pen = false;
      else {
        context[pen ? "lineTo" : "moveTo"](middle + radius * x, middle + radius * y);
        pen = true;
      }
    }
    context.stroke();
  }
  context.globalAlpha = 1;
}
