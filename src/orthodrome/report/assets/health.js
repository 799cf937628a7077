// The verdict in words, and the figures behind it.

const SIGNS = new Map([[true, ["good", "✓", "good"]], [false, ["bad", "!", "needs attention"]], [null, ["", "", ""]]]);

function drawHealth(box, { ok, verdict, problems = [], cards }) {
  const [kind, sign] = ok === null ? ["", "?"] : SIGNS.get(ok);
  const words = problems.length
    ? el("ul", {}, ...problems.map((text) => el("li", {}, word(text))))
    : el("p", {}, verdict);
  const title = ok === null ? "Not judged" : ok ? "The draws look sound" : "Look at this before you use the draws";
  box.append(el("div", { class: `verdict ${kind}` },
    el("span", { class: "sign", "aria-hidden": "true" }, sign), el("div", {}, el("h3", {}, title), words)));
  box.append(el("ul", { class: "cards" }, ...cards.map(card)));
}

function card({ name, value, good, should }) {
  const [kind, sign, spoken] = SIGNS.get(good);
  return el("li", { class: `card ${kind}` },
    el("span", { class: "what" }, name),
    el("span", { class: "value" }, value, sign && el("span", { class: "sign", "aria-hidden": "true" }, ` ${sign}`),
      spoken && el("span", { class: "hidden" }, ` (${spoken})`)),
    el("span", { class: "should" }, should));
}
