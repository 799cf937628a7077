// The explorer of topics: search, map and list on one side, what was chosen on the other. The address keeps the choice.

// Large tables are unpacked when they are first looked at, so that the page opens at once.
function lazily(target, name, make) {
  let made;
  Object.defineProperty(target, name, { get: () => (made ??= make()) });
}

function topicModel(data) {
  const rowsOf = (group) => Object.fromEntries(Object.entries(group).map(([name, value]) => [name, unpackRows(value)]));
  const { share, order, words, documents, total, quantity, absence } = data;
  const model = { share, order, words, documents, total, quantity, absence };
  for (const name of ["top", "bottom", "wordTopics", "docTopics"]) lazily(model, name, () => rowsOf(data[name]));
  for (const name of ["places", "docWords", "ofTopic", "ofTopicShare"]) lazily(model, name, () => unpackRows(data[name]));
  lazily(model, "corpus", () => unpack(data.corpus).values);
  return model;
}

const PANELS = { topic: topicPanel, word: wordPanel, document: documentPanel };

function drawTopics(box, data) {
  const model = topicModel(data), panel = el("div", { class: "panel" });
  const pick = (kind, id) => {
    const wanted = `#${kind}=${id}`;
    if (location.hash === wanted) show(kind, id, true);
    else location.hash = wanted;
  };
  const map = model.documents.length ? topicMap(model, pick) : { element: null, highlight: () => {} };
  const list = topicList(model, pick);
  const show = (kind, id, focus) => {
    panel.replaceChildren(...PANELS[kind](model, id, pick));
    if (location.hash) map.highlight(kind, id); // at first the whole map has its colours
    list.mark(kind === "topic" ? id : -1);
    const heading = panel.querySelector("h3");
    if (focus) heading.focus({ preventScroll: true });
    if (focus && panel.getBoundingClientRect().top > innerHeight * 0.7) panel.scrollIntoView({ block: "start" });
    say(heading.textContent);
  };
  const follow = (focus) => {
    const [, kind, id] = /^#(topic|word|document)=(\d+)$/.exec(location.hash) || [null, "topic", model.order[0]];
    const many = { topic: model.share, word: model.words, document: model.documents }[kind].length;
    if (Number(id) < many) show(kind, Number(id), focus);
  };
  addEventListener("hashchange", () => /^#(topic|word|document)=/.test(location.hash) && follow(true));
  box.append(el("div", { class: "explorer" }, el("div", { class: "finder" }, search(model, pick), map.element, list.element), panel));
  follow(false);
}

function topicList(model, pick) {
  const most = Math.max(...model.share);
  const items = model.order.map((topic) => {
    const bar = el("span", { class: "share-bar", "aria-hidden": "true" });
    bar.style.width = `${(100 * model.share[topic]) / most}%`;
    bar.style.setProperty("--hue", ((215 + topic * 137.508) % 360).toFixed(1));
    return button([el("strong", {}, `${topic}`), el("span", { class: "top" }, word(topWords(model, topic, 5).join(" "))),
      el("span", { class: "share" }, percent(model.share[topic])), bar], () => pick("topic", topic), { "aria-pressed": "false", "data-topic": topic });
  });
  const element = el("ul", { class: "topic-list", "aria-label": "Topics, the largest first" }, ...items.map((one) => el("li", {}, one)));
  element.addEventListener("keydown", (event) => {
    const at = items.indexOf(document.activeElement), by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!by || at < 0) return;
    event.preventDefault();
    items[(at + by + items.length) % items.length].focus();
  });
  return { element, mark: (topic) => items.forEach((one) => one.setAttribute("aria-pressed", String(Number(one.dataset.topic) === topic))) };
}
