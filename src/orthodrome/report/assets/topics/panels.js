// What is shown of a topic, of a word, and of a document.

const SHOWN_WORDS = 20;

function topicPanel(model, topic, pick) {
  const at = model.order.indexOf(topic), count = model.order.length;
  const step = (by, sign, name) => button(sign, () => pick("topic", model.order[(at + by + count) % count]), { "aria-label": name, title: name });
  const head = el("div", { class: "panel-head" }, el("h3", { tabindex: -1 }, `Topic ${topic}`),
    el("span", { class: "share" }, model.documents.length ? `${percent(model.share[topic])} of the documents, rank ${at + 1} of ${count}` : ""),
    el("span", { class: "steps" }, step(-1, "‹", "Larger topic"), step(1, "›", "Smaller topic")));
  const parts = [head, el("h4", {}, "Words it has most of"), wordBars(model, model.top, topic, pick, "")];
  if (model.absence) {
    parts.push(el("h4", {}, "Words it lacks: they speak against the topic"), wordBars(model, model.bottom, topic, pick, "negative", 8));
  }
  parts.push(el("p", { class: "note" }, `Bars: ${model.quantity}; lines: two standard deviations; grey marks: the whole corpus.`));
  if (model.documents.length) parts.push(el("h4", {}, "Documents with most of it"), documentList(model, topic, pick));
  return parts;
}

function wordBars(model, side, topic, pick, tone, count = SHOWN_WORDS) {
  const rows = Array.from(side.words[topic], (k, i) => {
    const mean = side.mean[topic][i], sd = side.sd[topic][i];
    return { name: model.words[k], mean, bounds: [mean - 2 * sd, mean + 2 * sd], reference: model.corpus[k], tone,
      text: `${short(mean)} ± ${short(sd, 2)}`, pick: () => pick("word", k) };
  });
  const box = el("div", { class: "words" });
  const show = (some) => box.replaceChildren(intervals(rows.slice(0, some), { bars: true, label: `Words of topic ${topic}` }),
    ...(some < rows.length ? [button(`Show ${rows.length} words`, () => show(rows.length))] : []));
  show(Math.min(count, rows.length));
  return box;
}

function documentList(model, topic, pick) {
  const items = Array.from(model.ofTopic[topic], (k, i) => el("li", {},
    button(word(model.documents[k]), () => pick("document", k), { class: "link" }),
    el("span", { class: "share" }, percent(model.ofTopicShare[topic][i], 0))));
  return el("ol", { class: "documents" }, ...items);
}

function wordPanel(model, index, pick) {
  const topics = model.wordTopics.topics[index];
  const rows = Array.from(topics, (topic, i) => {
    const mean = model.wordTopics.mean[index][i], sd = model.wordTopics.sd[index][i];
    return { name: `${topic}  ${topWords(model, topic, 3).join(" ")}`, mean, bounds: [mean - 2 * sd, mean + 2 * sd],
      reference: model.corpus[index], tone: mean < 0 ? "negative" : "", text: `${short(mean)} ± ${short(sd, 2)}`, pick: () => pick("topic", topic) };
  }).sort((a, b) => b.mean - a.mean);
  const some = topics.length < model.share.length ? `the ${topics.length} topics with the largest weights` : "all topics";
  return [el("div", { class: "panel-head" }, el("h3", { tabindex: -1 }, "The word ", word(model.words[index]))),
    el("p", { class: "note" }, `Its ${model.quantity} in ${some}; grey marks: the whole corpus.`),
    intervals(rows, { bars: true, label: `Topics of the word ${model.words[index]}` })];
}

function documentPanel(model, index, pick) {
  const topics = model.docTopics.topics[index];
  const rows = Array.from(topics, (topic, i) => {
    const mean = model.docTopics.mean[index][i], sd = model.docTopics.sd[index][i];
    return { name: `${topic}  ${topWords(model, topic, 3).join(" ")}`, mean, bounds: [Math.max(0, mean - 2 * sd), Math.min(1, mean + 2 * sd)],
      text: `${percent(mean)} ± ${percent(sd)}`, pick: () => pick("topic", topic) };
  });
  const words = Array.from(model.docWords[index]).filter((k) => k > 0).map((k) => el("li", {},
    button(word(model.words[k - 1]), () => pick("word", k - 1), { class: "chip" })));
  return [el("div", { class: "panel-head" }, el("h3", { tabindex: -1 }, word(model.documents[index]))),
    el("h4", {}, "Its largest topics"), intervals(rows, { bars: true, range: [0, 1], label: "Topics of the document" }),
    el("h4", {}, "Its weightiest words"), el("ul", { class: "chips" }, ...words)];
}
