/* The contrast of each text in a figure against what is painted under it.

   axe cannot say: it leaves text over a cell of an SVG picture "incomplete".
   Looks at three points of each text. Lines are not ground: a text may cross
   one. Needs contrast.js. Returns [contrast, text] pairs. */
name => {
  const figure = document.querySelector(`#${name}`);
  const parse = (c) => {
    const found = c.match(/[\d.]+/g);
    if (!found || c === "none" || c === "transparent") return null;
    const [r, g, b, a = 1] = found.map(Number);
    return [r, g, b, a];
  };
  const over = ([r, g, b, a], [R, G, B]) =>
    [[r, R], [g, G], [b, B]].map(([x, y]) => a * x + (1 - a) * y).concat(1);
  const opacity = (e) => {
    let all = 1;
    for (; e && e.localName !== "figure"; e = e.parentElement)
      all *= Number(getComputedStyle(e).opacity);
    return all;
  };
  const paint = (e) => {
    const style = getComputedStyle(e);
    const svg = e instanceof SVGElement && e.localName !== "svg";
    const colour = parse(svg ? style.fill : style.backgroundColor);
    if (!colour) return null;
    const own = svg ? Number(style.fillOpacity) : 1;
    return [...colour.slice(0, 3), colour[3] * own * opacity(e)];
  };
  const beneath = (text, x, y) => {
    const layers = [];
    for (const e of document.elementsFromPoint(x, y)) {
      if (e.closest("text")) continue;
      if (!figure.contains(e) && !e.contains(figure)) continue; // above it
      const colour = paint(e);
      if (!colour || colour[3] === 0) continue;
      layers.push(colour);
      if (colour[3] === 1) break;
    }
    return layers.reduceRight((ground, c) => over(c, ground), [255, 255, 255]);
  };
  figure.querySelector("svg").scrollIntoView({
    block: "center", behavior: "instant",
  });
  const found = [];
  for (const text of figure.querySelectorAll("svg text")) {
    if (!text.textContent.trim()) continue;
    const box = text.getBoundingClientRect();
    for (const share of [0.1, 0.5, 0.9]) {
      const x = box.left + share * box.width, y = box.top + box.height / 2;
      const ground = beneath(text, x, y);
      const ink = over(paint(text), ground);
      found.push([contrast(ink, ground), text.textContent]);
    }
  }
  return found;
}
