/* Plays the states that Python drew. A figure's flipbook is a script that
   calls explore.register(name, {columns, slots, sentences}); see flipbook.py
   for what they hold. Nothing here computes a number that a reader sees. */
window.explore = (function () {
  "use strict";

  const XLINK = "http://www.w3.org/1999/xlink";
  const SVG = "http://www.w3.org/2000/svg";
  const figures = new Map();

  class Figure {
    constructor(element) {
      this.element = element;
      this.name = element.id;
      this.svg = element.querySelector("svg");
      this.caption = element.querySelector("figcaption");
      this.form = element.querySelector("form");
      this.note = element.querySelector(".explorable-note");
      const config = element.querySelector("script[type='application/json']");
      Object.assign(this, JSON.parse(config.textContent));
      this.order = new Map(this.everyState().map((key, i) => [key, i]));
      this.book = null;
      this.loading = null;
      this.timer = null;
      this.show(this.start);
      this.form.addEventListener("input", (event) => this.moved(event));
      this.form.addEventListener("submit", (event) => event.preventDefault());
      this.on(".explorable-reset", () => this.go(this.start));
      this.on(".explorable-link", () => this.copyLink());
      this.on(".explorable-play", (button) => this.play(button));
      this.form.hidden = false;
    }

    on(selector, act) {
      this.form.querySelectorAll(selector).forEach((button) => {
        button.addEventListener("click", () => {
          if (!button.classList.contains("explorable-play")) this.stop();
          act(button);
        });
      });
    }

    /* The keys of all states, in the order in which Python drew them. */
    everyState() {
      let states = [{}];
      for (const slider of this.sliders) {
        states = states.flatMap((state) =>
          this.options(slider, state).map(([key]) => ({
            ...state,
            [slider.name]: key,
          }))
        );
      }
      return states.map((state) => this.key(state));
    }

    options(slider, state) {
      return slider.given
        ? slider.options[state[slider.given]]
        : slider.options;
    }

    /* Not form.elements[name]: a slider may be named "length" or "item". */
    control(name) {
      return this.form.querySelector(`[name="${name}"]`);
    }

    key(state) {
      return this.sliders.map((slider) => state[slider.name]).join("\n");
    }

    /* What the controls show, as the keys of their values; a control that
       depends on the one just moved begins anew. */
    state(moved) {
      const state = {};
      for (const slider of this.sliders) {
        const input = this.control(slider.name);
        if (moved && slider.given === moved) {
          state[slider.name] = slider.starts[state[moved]];
        } else if (slider.kind === "checkbox") {
          state[slider.name] = input.checked ? "on" : "off";
        } else if (slider.kind === "select") {
          state[slider.name] = input.value;
        } else {
          state[slider.name] = this.options(slider, state)[input.value][0];
        }
      }
      return state;
    }

    /* Set the controls to a state. */
    show(state) {
      for (const slider of this.sliders) {
        const input = this.control(slider.name);
        const key = state[slider.name];
        if (slider.kind === "checkbox") {
          input.checked = key === "on";
          continue;
        }
        const options = this.options(slider, state);
        if (slider.kind === "select") {
          if (slider.given) fillMenu(input, options);
          input.value = key;
          continue;
        }
        const place = options.findIndex((option) => option[0] === key);
        input.max = options.length - 1;
        input.value = place;
        input.setAttribute("aria-valuetext", options[place][1]);
        this.form.querySelector(`output[for="${input.id}"]`).textContent =
          options[place][1];
      }
    }

    moved(event) {
      this.stop();
      this.go(this.state(event.target.name));
    }

    go(state) {
      this.show(state);
      if (this.book) this.draw(this.order.get(this.key(state)));
      else this.load();
    }

    load() {
      if (this.loading) return;
      const script = document.createElement("script");
      script.src = this.script;
      script.onerror = () => {
        this.loading = null;
        script.remove();
        this.tell("The other states could not be loaded.");
      };
      this.loading = script;
      document.head.append(script);
    }

    receive(book) {
      const elements = [this.svg, ...this.svg.querySelectorAll("*")];
      const base = this.order.get(this.key(this.start));
      this.current = book.columns.map((column) => column[base]);
      this.byColumn = book.columns.map(() => []);
      for (const [number, what, column, values] of book.slots) {
        this.byColumn[column].push(setter(elements[number], what, values));
      }
      this.book = book;
      this.draw(this.order.get(this.key(this.state())));
    }

    draw(place) {
      this.book.columns.forEach((column, c) => {
        const value = column[place];
        if (value === this.current[c]) return;
        this.current[c] = value;
        for (const set of this.byColumn[c]) set(value);
      });
      const sentence = this.book.sentences[place];
      if (this.caption.textContent !== sentence) {
        this.caption.textContent = sentence;
      }
      this.element.dataset.state = place;
    }

    play(button) {
      if (this.timer) return this.stop();
      const input = this.control(button.dataset.plays);
      const last = Number(input.max);
      const step = () => {
        input.value = Number(input.value) + 1;
        this.go(this.state());
        if (Number(input.value) >= last) this.stop();
      };
      if (Number(input.value) >= last) {
        input.value = 0;
        this.go(this.state());
      } else if (calm()) {
        step(); // one step for each press: nothing moves by itself
      }
      if (calm()) return;
      this.playing = button;
      button.textContent = "Stop";
      this.caption.setAttribute("aria-live", "off");
      this.timer = setInterval(step, Number(button.dataset.beat));
    }

    stop() {
      if (!this.timer) return;
      clearInterval(this.timer);
      this.timer = null;
      this.playing.textContent = "Play";
      this.caption.setAttribute("aria-live", "polite");
    }

    /* The projector view's links open in it again: see projector.js. */
    link() {
      const query = new URLSearchParams(this.state());
      const view = this.element.closest("dialog") ? "&projector" : "";
      return `${location.href.split("#")[0]}#${this.name}?${query}${view}`;
    }

    async copyLink() {
      const link = this.link();
      try {
        await navigator.clipboard.writeText(link);
        this.tell("Link copied.");
      } catch (refused) {
        location.hash = link.slice(link.indexOf("#"));
        this.tell("The link is in the address bar.");
      }
    }

    tell(words) {
      this.note.textContent = words;
      clearTimeout(this.told);
      this.told = setTimeout(() => (this.note.textContent = ""), 6000);
    }

    /* Follow a state link as far as it makes sense; ignore the rest. */
    follow(query) {
      const asked = new URLSearchParams(query);
      const state = {};
      for (const slider of this.sliders) {
        const keys = this.options(slider, state).map((option) => option[0]);
        const key = asked.get(slider.name);
        const start = slider.given
          ? slider.starts[state[slider.given]]
          : this.start[slider.name];
        state[slider.name] = keys.includes(key)
          ? key
          : keys.find((k) => isNumber(key) && Number(k) === Number(key)) ??
            start;
      }
      this.stop();
      this.go(state);
    }
  }

  /* A function that gives one slot its value. */
  function setter(element, what, values) {
    if (what === "#text") {
      return (value) => {
        const first = element.firstChild;
        if (first && first.nodeType === Node.TEXT_NODE) first.remove();
        element.prepend(values[value]);
      };
    }
    if (what.startsWith("#children:")) {
      const [before, after] = what.split(":").slice(1).map(Number);
      const parsed = [];
      return (value) => {
        parsed[value] = parsed[value] || parse(values[value]);
        const children = [...element.children];
        const end = children.length - after;
        children.slice(before, end).forEach((child) => child.remove());
        const next = children[end] || null;
        parsed[value].forEach((child) =>
          element.insertBefore(child.cloneNode(true), next)
        );
      };
    }
    const space = what.startsWith("xlink:") ? XLINK : null;
    return (value) => {
      if (values[value] === null) element.removeAttribute(what);
      else element.setAttributeNS(space, what, values[value]);
    };
  }

  function parse(text) {
    const whole = `<svg xmlns="${SVG}" xmlns:xlink="${XLINK}">${text}</svg>`;
    const parsed = new DOMParser().parseFromString(whole, "image/svg+xml");
    return [...parsed.documentElement.children].map((child) =>
      document.importNode(child, true)
    );
  }

  function fillMenu(menu, options) {
    menu.replaceChildren(
      ...options.map(([key, text]) => new Option(text, key))
    );
  }

  function isNumber(text) {
    return text !== null && text.trim() !== "" && Number.isFinite(Number(text));
  }

  function calm() {
    return matchMedia("(prefers-reduced-motion: reduce)").matches;
  }

  function followHash() {
    const [name, query] = location.hash.slice(1).split("?");
    const figure = figures.get(name);
    if (!figure || query === undefined) return;
    figure.follow(query);
    figure.element.scrollIntoView();
  }

  function begin() {
    const near = new IntersectionObserver(
      (entries) => {
        for (const entry of entries) {
          if (!entry.isIntersecting) continue;
          near.unobserve(entry.target);
          figures.get(entry.target.id).load();
        }
      },
      { rootMargin: "600px 0px" }
    );
    document.querySelectorAll("figure[data-moves]").forEach((element) => {
      figures.set(element.id, new Figure(element));
      near.observe(element);
    });
    followHash();
    addEventListener("hashchange", followHash);
  }

  if (document.readyState === "loading") {
    document.addEventListener("DOMContentLoaded", begin);
  } else {
    begin();
  }

  return {
    figures,
    register: (name, book) => figures.get(name)?.receive(book),
  };
})();
