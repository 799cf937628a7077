// Search for a word, a document or the number of a topic: a field with a list of what was found.

const FOUND = 8;

function search(model, pick) {
  const id = newId("search"), listId = newId("found");
  const list = el("ul", { id: listId, role: "listbox", "aria-label": "Found", class: "found", hidden: true });
  const field = el("input", { id, type: "search", role: "combobox", autocomplete: "off", placeholder: "a word, a document or the number of a topic",
    "aria-expanded": "false", "aria-controls": listId, "aria-autocomplete": "list" });
  let hits = [], active = 0;
  const close = () => {
    list.hidden = true;
    field.setAttribute("aria-expanded", "false");
    field.removeAttribute("aria-activedescendant");
  };
  const choose = (k) => {
    if (!hits[k]) return;
    close();
    pick(hits[k].kind, hits[k].id);
  };
  const mark = (k) => {
    active = (k + hits.length) % hits.length;
    [...list.children].forEach((one, i) => one.setAttribute("aria-selected", String(i === active)));
    if (list.children[active]) field.setAttribute("aria-activedescendant", list.children[active].id);
  };
  const update = () => {
    hits = matches(model, field.value.trim().toLocaleLowerCase());
    list.replaceChildren(...hits.map((hit, k) => el("li", { role: "option", id: `${listId}-${k}`, onclick: () => choose(k) },
      el("span", { class: "kind" }, hit.kind), word(hit.name))));
    list.hidden = !hits.length;
    field.setAttribute("aria-expanded", String(hits.length > 0));
    if (hits.length) mark(0);
    else if (field.value.trim()) say("Nothing found");
  };
  field.addEventListener("input", update);
  field.addEventListener("keydown", (event) => {
    if (event.key === "Escape") return close();
    const act = { ArrowDown: () => mark(active + 1), ArrowUp: () => mark(active - 1), Enter: () => choose(active) }[event.key];
    if (!act || list.hidden) return;
    event.preventDefault();
    act();
  });
  // Later, so that a click on the list still finds it; not if the field has the focus again by then.
  field.addEventListener("blur", () => setTimeout(() => document.activeElement === field || close(), 150));
  return el("div", { class: "search" }, el("label", { for: id }, "Search"), field, list);
}

// What begins with the text comes before what contains it; words before documents.
function matches(model, text) {
  if (!text) return [];
  const found = [];
  if (/^\d+$/.test(text) && Number(text) < model.share.length) found.push({ kind: "topic", id: Number(text), name: `${text} ${topWords(model, Number(text), 4).join(" ")}` });
  for (const [kind, names] of [["word", model.words], ["document", model.documents]]) {
    const begins = [], contains = [];
    for (let k = 0; k < names.length && begins.length < FOUND; k += 1) {
      const at = names[k].toLocaleLowerCase().indexOf(text);
      if (at === 0) begins.push(k);
      else if (at > 0 && contains.length < FOUND) contains.push(k);
    }
    begins.sort((a, b) => names[a].length - names[b].length);
    found.push(...[...begins, ...contains].slice(0, FOUND - 2).map((k) => ({ kind, id: k, name: names[k] })));
  }
  return found;
}
