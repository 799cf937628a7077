// Elements of the page. Texts from the data are written as text nodes and never as markup.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

function el(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

function button(text, onclick, attributes = {}) {
  return el("button", { type: "button", onclick, ...attributes }, text);
}

// A word of the data: isolated, so that its direction of writing does not turn the line around it.
function word(text, attributes = {}) {
  return el("bdi", attributes, text);
}

let counted = 0;
function newId(stem) {
  counted += 1;
  return `${stem}-${counted}`;
}

function say(text) {
  document.getElementById("status").textContent = text;
}

// A choice among names: a labelled select; `change` is called with the position that is chosen.
function choice(label, names, change, chosen = 0) {
  const id = newId("choice");
  const select = el("select", { id, onchange: () => change(select.selectedIndex) });
  select.append(...names.map((name) => el("option", {}, name)));
  select.selectedIndex = chosen;
  return el("div", { class: "choice" }, el("label", { for: id }, label), select);
}

function checkbox(label, checked, change, swatch = null) {
  const input = el("input", { type: "checkbox", onchange: () => change(input.checked) });
  input.checked = checked;
  return el("label", { class: "check" }, input, swatch, label);
}
