/* Starts reveal.js, lets the slides wear the reader's theme, and sees that
   each slide is seen whole: in large type, and smaller where it holds much. */
(function () {
  "use strict";

  const LARGEST = 36;
  const SMALLEST = 18;
  const dark = matchMedia("(prefers-color-scheme: dark)");

  /* The choice made with the book's own switch, else the system's. */
  function wearTheme() {
    const asked = new URLSearchParams(location.search).get("theme");
    const chosen = asked || stored("mode");
    const theme = ["light", "dark"].includes(chosen)
      ? chosen
      : dark.matches ? "dark" : "light";
    document.documentElement.dataset.theme = theme;
  }

  function stored(name) {
    try {
      return localStorage.getItem(name);
    } catch (refused) {
      return null;
    }
  }

  /* The keys of a control in use are its own; all others are the slides'.
     A presenter's remote control sends PageUp and PageDown: they always are. */
  function isForTheSlides(event) {
    const held = document.activeElement;
    if (document.querySelector("dialog[open]")) return false;
    if (!held || !held.closest(".explorable-controls")) return true;
    if (held.tagName === "BUTTON") return ![" ", "Enter"].includes(event.key);
    return false;
  }

  function leaveControl(event) {
    const held = document.activeElement;
    const leaving = ["PageUp", "PageDown", "Escape"].includes(event.key);
    if (!leaving || document.querySelector("dialog[open]")) return;
    if (!held || !held.closest(".explorable-controls")) return;
    held.blur();
    event.preventDefault();
    if (event.key === "PageUp") Reveal.prev();
    if (event.key === "PageDown") Reveal.next();
    event.stopImmediatePropagation();
  }

  /* As large as the slide's room allows, whichever sentence is shown. */
  function fit(slide) {
    if (!slide) return;
    const boxes = [...slide.querySelectorAll("figcaption")];
    const shown = boxes.map((box) => box.textContent);
    boxes.forEach((box) => {
      const figure = explore.figures.get(box.closest("figure").id);
      if (figure) box.textContent = projector.longest(figure, () => fit(slide));
    });
    for (let size = LARGEST; size >= SMALLEST; size -= 1) {
      slide.style.setProperty("--slide-size", `${size}px`);
      if (!overflows(slide)) break;
    }
    boxes.forEach((box, i) => { box.textContent = shown[i]; });
  }

  function overflows(slide) {
    return [slide, ...slide.querySelectorAll("pre, figure")].some(
      (box) => box.scrollHeight > box.clientHeight + 1
        || box.scrollWidth > box.clientWidth + 1);
  }

  /* A link to a figure's state opens the slide that holds the figure. */
  function followHash(asked) {
    const name = asked.slice(1).split("?")[0];
    const figure = name && explore.figures.get(name);
    if (!figure) return;
    const slide = figure.element.closest("section");
    const { h, v } = Reveal.getIndices(slide);
    Reveal.slide(h, v);
    document.querySelectorAll("html, body, .reveal, .slides").forEach(
      (box) => { box.scrollTop = 0; });
  }

  async function begin() {
    wearTheme();
    dark.addEventListener("change", wearTheme);
    document.addEventListener("keydown", leaveControl, true);
    const asked = location.hash;
    // heard before reveal.js, which puts its own hash in place of this one;
    // done after it
    addEventListener("hashchange", () => {
      const now = location.hash;
      setTimeout(() => followHash(now));
    });
    await Reveal.initialize({
      width: 1280,
      height: 720,
      margin: 0,
      center: false,
      hash: true,
      slideNumber: "c/t",
      transition: "none",
      navigationMode: "linear", // or Right would pass over what stands below
      keyboardCondition: isForTheSlides,
      plugins: [RevealNotes],
    });
    const fitNow = () => fit(Reveal.getCurrentSlide());
    Reveal.on("slidechanged", fitNow);
    if (explore.figures.has(asked.slice(1).split("?")[0])) {
      followHash(asked);
    }
    await MathJax.startup?.promise; // no mathematics, no wait
    fitNow();
    document.documentElement.dataset.ready = "yes";
  }

  begin();
})();
