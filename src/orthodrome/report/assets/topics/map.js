// The map of documents: points coloured by their largest topic, and the topics' numbers and words where these are.

function topicMap(model, pick) {
  const canvas = newCanvas(`A map of ${model.documents.length} documents and ${model.share.length} topics; the list of topics and the search reach all of them`);
  const place = el("div", { class: "map" }, canvas);
  const readout = el("p", { class: "note readout" }, model.documents.length < model.total
    ? `${model.documents.length.toLocaleString("en")} of ${model.total.toLocaleString("en")} documents` : `${model.total.toLocaleString("en")} documents`);
  let spots = [], labels = [], chosen = null;
  const redraw = responsive(place, (width) => {
    const size = [width, Math.max(280, Math.min(520, width * 0.72))];
    spots = placed(model.places, size);
    labels = paintMap(sized(canvas, ...size), model, spots, chosen, size);
  });
  const nearest = ([x, y]) => {
    const inside = labels.find((one) => x >= one.box[0] && x <= one.box[2] && y >= one.box[1] && y <= one.box[3]);
    if (inside) return ["topic", inside.topic];
    let best = -1, least = 14;
    spots.forEach((spot, k) => {
      const far = Math.hypot(spot[0] - x, spot[1] - y);
      if (far < least) [best, least] = [k, far];
    });
    return best < 0 ? null : ["document", best];
  };
  canvas.addEventListener("pointermove", (event) => {
    const found = nearest(pointerAt(canvas, event));
    canvas.style.cursor = found ? "pointer" : "default";
    if (found) readout.textContent = found[0] === "topic" ? `Topic ${found[1]}: ${topWords(model, found[1], 6).join(", ")}`
      : `${model.documents[found[1]]}: mostly topic ${model.docTopics.topics[found[1]][0]}`;
  });
  canvas.addEventListener("click", (event) => {
    const found = nearest(pointerAt(canvas, event));
    if (found) pick(...found);
  });
  const highlight = (kind, id) => {
    chosen = { kind, id };
    redraw();
  };
  return { element: el("div", {}, place, readout), highlight };
}

function topWords(model, topic, count) {
  return Array.from(model.top.words[topic].subarray(0, count), (k) => model.words[k]);
}

function paintMap(context, model, spots, chosen, size) {
  const first = (k) => model.docTopics.topics[k][0];
  const shareOf = chosen && chosen.kind === "topic" ? model.docTopics.topics.map((row, k) => {
    const at = row.indexOf(chosen.id);
    return at < 0 ? 0 : model.docTopics.mean[k][at];
  }) : null;
  spots.forEach(([x, y], k) => {
    const strong = shareOf ? shareOf[k] : 0.6;
    context.fillStyle = shareOf && strong < 0.1 ? colour("line") : hue(shareOf ? chosen.id : first(k), Math.min(0.95, 0.3 + strong));
    dot(context, x, y, shareOf ? 2 + 4 * strong : 2.6);
  });
  if (chosen && chosen.kind === "document") {
    context.strokeStyle = colour("ink");
    context.lineWidth = 2;
    context.beginPath();
    context.arc(...spots[chosen.id], 7, 0, 2 * Math.PI);
    context.stroke();
    context.lineWidth = 1;
  }
  return paintLabels(context, model, spots, chosen, size);
}

// The labels of topics, the chosen one and the largest first; those that would cover another are left out.
function paintLabels(context, model, spots, chosen, [width, height]) {
  context.font = "600 12px system-ui, sans-serif";
  context.textAlign = "center";
  const mine = chosen && chosen.kind === "topic" ? [chosen.id] : [];
  const boxes = [];
  for (const topic of [...mine, ...model.order.filter((k) => !mine.includes(k))]) {
    const [x, y] = centreOf(model, spots, topic);
    const text = `${topic} ${topWords(model, topic, 2).join(" ")}`.slice(0, 30), wide = context.measureText(text).width / 2 + 3;
    const at = [Math.max(wide, Math.min(width - wide, x)), Math.max(12, Math.min(height - 6, y))];
    const box = [at[0] - wide, at[1] - 13, at[0] + wide, at[1] + 5];
    if (boxes.some((one) => box[0] < one.box[2] && box[2] > one.box[0] && box[1] < one.box[3] && box[3] > one.box[1])) continue;
    boxes.push({ topic, box });
    outlined(context, text, at[0], at[1], mine.includes(topic) || !mine.length ? hueText(topic) : "muted");
  }
  return boxes;
}

function hueText(topic) {
  return `hsl(${((215 + topic * 137.508) % 360).toFixed(1)} 60% ${isDark() ? 78 : 28}%)`;
}

// The document in the midst of a topic's foremost ones: unlike a mean, always among them.
function centreOf(model, spots, topic) {
  const own = Array.from(model.ofTopic[topic], (k) => spots[k]);
  const total = own.map(([x, y]) => own.reduce((sum, [a, b]) => sum + Math.hypot(a - x, b - y), 0));
  return own[total.indexOf(Math.min(...total))];
}
