// Numbers: from their packed form to arrays, and from numbers to short texts and round ticks.

function unpack(given) {
  const text = atob(given.packed), bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i += 1) bytes[i] = text.charCodeAt(i);
  const codes = given.bits === 8 ? bytes : new Uint16Array(bytes.buffer);
  const missing = given.bits === 8 ? 255 : 65535, values = new Float64Array(codes.length);
  for (let i = 0; i < codes.length; i += 1) values[i] = codes[i] === missing ? NaN : given.low + given.step * codes[i];
  return { values, shape: given.shape };
}

// The rows of a packed matrix.
function unpackRows(given) {
  const { values, shape } = unpack(given);
  const width = shape.slice(1).reduce((a, b) => a * b, 1);
  return Array.from({ length: shape[0] }, (_, i) => values.subarray(i * width, (i + 1) * width));
}

function short(value, digits = 3) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (typeof value !== "number") return String(value);
  if (value === 0) return "0";
  if (Number.isInteger(value)) return value.toLocaleString("en");
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-3 || size >= 1e6)) return value.toExponential(digits - 1).replace("-", "−");
  return Number(value.toPrecision(digits)).toLocaleString("en", { maximumFractionDigits: 6 }).replace("-", "−");
}

function percent(value, digits = 1) {
  return `${(100 * value).toFixed(digits)} %`;
}

function extent(values) {
  let low = Infinity, high = -Infinity;
  for (const value of values) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  if (!(low <= high)) return [0, 1];
  if (low === high) return [low - (Math.abs(low) || 1) * 0.1, high + (Math.abs(high) || 1) * 0.1];
  return [low, high];
}

// Round numbers inside an interval, about `count` of them and at least two: one alone gives no scale.
function ticks([low, high], count = 5) {
  const raw = (high - low) / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(raw));
  const steps = [0.5, 1, 2, 5, 10].map((m) => m * power);
  const chosen = steps.findIndex((s) => s >= raw);
  const found = multiples(steps[chosen] || raw, low, high);
  return found.length > 1 || chosen < 1 ? found : multiples(steps[chosen - 1], low, high);
}

function multiples(step, low, high) {
  const found = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9; k += 1) found.push(k * step);
  return found;
}

function linear([from, to], [begin, end]) {
  const rate = (end - begin) / (to - from);
  return (value) => begin + (value - from) * rate;
}
