/* Makes a group of radio buttons of each question, and says at once why the
   chosen answer is right or wrong. Without this script each answer is a
   <details> that opens on its reason; all words are there already. Nothing is
   stored and nothing is sent. */
(function () {
  "use strict";

  const ARROWS = ["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight"];
  const HOW =
    "Choose an answer to read at once what is right or wrong about it. With " +
    "the keyboard, the arrow keys move and Space or Enter answers. Nothing " +
    "is recorded.";

  function make(name, parts = {}, ...children) {
    const element = Object.assign(document.createElement(name), parts);
    element.append(...children);
    return element;
  }

  /* A question: its words become the legend, its answers radio buttons. */
  function enliven(question) {
    const name = `quiz-${question.dataset.question}`;
    const ask = question.querySelector(".quiz-ask");
    const legend = make("legend", { className: "quiz-ask" }, ...ask.childNodes);
    const field = make("fieldset", {}, legend);
    const said = make("div", { className: "quiz-said" });
    said.setAttribute("role", "status");
    const rows = [...question.querySelectorAll("details")].map((details, i) =>
      row(details, `${name}-${i + 1}`, name)
    );
    field.append(...rows.map((one) => one.label));

    /* Arrow keys check a radio button as they pass: that is not an answer. */
    let passing = false;
    field.addEventListener("keydown", (event) => {
      passing = ARROWS.includes(event.key);
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault(); // a click would answer once more
      answer(find(event.target), said, rows);
    });
    field.addEventListener("keyup", () => (passing = false));
    field.addEventListener("click", (event) => {
      const chosen = find(event.target);
      if (!chosen) return;
      clear(said, rows);
      if (!passing) answer(chosen, said, rows);
    });

    function find(input) {
      return rows.find((one) => one.input === input);
    }

    question.replaceChildren(field, said);
  }

  function row(details, id, name) {
    const input = make("input", { type: "radio", id, name });
    input.autocomplete = "off"; // a reload begins anew
    const words = details.querySelector("summary").childNodes;
    const mark = make("span", { className: "quiz-mark" });
    mark.setAttribute("aria-hidden", "true"); // the sentence says it
    const text = make("span", {}, ...words);
    const label = make("label", { htmlFor: id }, input, text, mark);
    const reason = details.querySelector("p");
    return { input, label, mark, reason, kind: details.className };
  }

  function clear(said, rows) {
    said.className = "quiz-said";
    said.replaceChildren();
    for (const one of rows) {
      one.label.className = "";
      one.mark.textContent = "";
    }
  }

  function answer(chosen, said, rows) {
    if (!chosen) return;
    clear(said, rows);
    chosen.input.checked = true;
    chosen.label.className = `${chosen.kind} quiz-chosen`;
    chosen.mark.textContent = chosen.kind === "quiz-right" ? "✓" : "✗";
    said.className = `quiz-said ${chosen.kind}`;
    said.replaceChildren(chosen.reason.cloneNode(true));
  }

  function begin() {
    document.querySelectorAll("section.quiz").forEach((quiz) => {
      quiz.querySelector(".quiz-how").textContent = HOW;
      quiz.querySelectorAll(".quiz-question").forEach(enliven);
    });
  }

  if (document.readyState === "loading") {
    document.addEventListener("DOMContentLoaded", begin);
  } else {
    begin();
  }
})();
