// A canvas that is sharp on every screen, described for those who do not see it.

function newCanvas(label, attributes = {}) {
  return el("canvas", { role: "img", "aria-label": label, ...attributes });
}

// Give a canvas its size in the page's units, and return its context in these units.
function sized(canvas, width, height) {
  const ratio = Math.min(2, window.devicePixelRatio || 1);
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  return context;
}

function dot(context, x, y, radius) {
  context.beginPath();
  context.arc(x, y, radius, 0, 2 * Math.PI);
  context.fill();
}

// The position of a pointer on a canvas, in the page's units.
function pointerAt(canvas, event) {
  const box = canvas.getBoundingClientRect();
  return [event.clientX - box.left, event.clientY - box.top];
}

// The red, green and blue of a colour that the browser has resolved.
function channels(text) {
  return (text.match(/[\d.]+/g) || [0, 0, 0]).slice(0, 3).map(Number);
}

// A point between two colours.
function mixed(from, to, share) {
  return from.map((part, i) => Math.round(part + (to[i] - part) * share));
}

// A line through points.
function stroke(context, points) {
  context.beginPath();
  points.forEach(([x, y], i) => context[i ? "lineTo" : "moveTo"](x, y));
  context.stroke();
}
