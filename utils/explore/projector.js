/* The projector view: one figure over the whole screen, in large type.

   The figure is not copied. A modal <dialog> is put around it where it
   stands: the browser then keeps the rest of the page out of reach, closes
   the view at Escape, and draws it above everything, however the page is
   laid out. Full screen comes on top where the browser grants it; a link
   cannot ask for it, so a view opened by a link fills the window. */
window.projector = (function () {
  "use strict";

  const LARGEST = 40;
  const SMALLEST = 14;
  let asked = null; // who asked for the whole screen, not only the window

  function open(figure, full) {
    if (figure.closest("dialog")) return;
    const other = view();
    if (other) { // one view at a time: the other's figure goes home first
      other.addEventListener("close", () => open(figure, full));
      other.close();
      return;
    }
    const dialog = document.createElement("dialog");
    const gap = document.createElement("div");
    const label = figure.querySelector("form").getAttribute("aria-label");
    dialog.className = "explorable-projector";
    dialog.setAttribute("aria-label", label.replace("controls", "projected"));
    // what stands below must not jump up, or the reader loses the place
    gap.style.height = `${figure.getBoundingClientRect().height}px`;
    figure.before(gap, dialog);
    dialog.append(figure);
    dialog.showModal();
    dialog.addEventListener("close", () => close(figure, dialog, gap));
    dialog.addEventListener("keydown", (event) => event.stopPropagation());
    mark(figure, true);
    figure.querySelector("form").querySelector("input, select").focus();
    fit(figure);
    new ResizeObserver(() => fit(figure)).observe(dialog);
    if (full) fullScreen(figure);
  }

  function close(figure, dialog, gap) {
    if (document.fullscreenElement) document.exitFullscreen();
    dialog.replaceWith(figure);
    gap.remove();
    figure.style.removeProperty("--explore-size");
    mark(figure, false);
    const [name, query] = location.hash.slice(1).split("?");
    if (name === figure.id && query !== undefined) {
      const rest = query.replace(/&?projector(=[^&]*)?$/, "");
      history.replaceState(null, "", `#${name}${rest && `?${rest}`}`);
    }
    button(figure).focus();
  }

  function view() {
    return document.querySelector("dialog.explorable-projector");
  }

  function mark(figure, on) {
    button(figure).setAttribute("aria-pressed", on);
    button(figure).textContent = on ? "Leave" : "Project";
  }

  function button(figure) {
    return figure.querySelector(".explorable-project");
  }

  /* Refused or missing, it is no loss: the view fills the window already. */
  function fullScreen(figure) {
    if (!document.fullscreenEnabled || !figure.requestFullscreen) return;
    asked = figure;
    figure.requestFullscreen().catch(() => {});
  }

  /* The largest type with which all of the figure can be seen at once,
     whichever of its sentences is shown: so it does not change on a move. */
  function fit(figure) {
    if (!figure.closest("dialog")) return;
    const box = figure.querySelector("figcaption");
    const shown = box.textContent;
    const player = window.explore.figures.get(figure.id);
    box.textContent = longest(player, () => fit(figure));
    let size = LARGEST;
    do {
      figure.style.setProperty("--explore-size", `${size}px`);
      size -= 1;
    } while (size >= SMALLEST && figure.scrollHeight > figure.clientHeight);
    box.textContent = shown;
  }

  /* The longest sentence of a figure; if its states are still on their way,
     the one shown, and `again` is called when they have come. */
  function longest(player, again) {
    if (player.book) {
      return player.book.sentences.reduce(
        (a, b) => (b.length > a.length ? b : a)
      );
    }
    player.load();
    player.loading.addEventListener("load", again, { once: true });
    return player.caption.textContent;
  }

  /* A link that ends in "projector" opens the view. */
  function followHash() {
    const [name, query] = location.hash.slice(1).split("?");
    const figure = window.explore.figures.get(name);
    if (!figure || query === undefined) return;
    if (new URLSearchParams(query).has("projector")) {
      open(figure.element, false);
    } else if (!figure.element.closest("dialog")) {
      view()?.close(); // or it would hide the figure that the link shows
    }
  }

  function begin() {
    document.querySelectorAll("figure[data-moves]").forEach((figure) => {
      button(figure).addEventListener("click", () => {
        const dialog = figure.closest("dialog");
        if (dialog) dialog.close();
        else open(figure, true);
      });
    });
    /* who is quick leaves before the screen was ever seen to be full */
    document.addEventListener("fullscreenchange", () => {
      if (!document.fullscreenElement) asked?.closest("dialog")?.close();
    });
    followHash();
    addEventListener("hashchange", followHash);
  }

  if (document.readyState === "loading") {
    document.addEventListener("DOMContentLoaded", begin);
  } else {
    begin();
  }

  return { longest };
})();
