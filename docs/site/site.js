// What the pages do by themselves: colours, chapters on a narrow screen, copying code, search. Without it all of them
// read the same; search and the buttons are not there then.
"use strict";

document.documentElement.classList.add("scripted");

// ---- Colours: the system's, until the reader chooses; what was chosen is remembered.

const theme = {
  preferred: () => (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light"),
  read() {
    try {
      return localStorage.getItem("theme");
    } catch {
      return null; // a browser may refuse storage to pages that come from disk
    }
  },
  apply(name) {
    document.documentElement.classList.toggle("dark-mode", name === "dark");
    document.documentElement.classList.toggle("light-mode", name === "light");
    const button = document.querySelector(".theme");
    if (button) button.setAttribute("aria-pressed", String(name === "dark"));
  },
  choose(name) {
    try {
      localStorage.setItem("theme", name);
    } catch {
      // it lasts for this page
    }
    theme.apply(name);
  },
};
theme.apply(theme.read() || theme.preferred());
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  if (!theme.read()) theme.apply(theme.preferred());
});

// ---- Search: the words of all sections come as a script the first time that they are asked for.

const search = {
  sections: null,
  loading: false,

  // Once; what was typed meanwhile is looked up when the words are there.
  load() {
    if (search.loading) return;
    search.loading = true;
    const script = document.createElement("script");
    script.src = "search_data.js";
    script.onload = search.run;
    script.onerror = () => search.show([], "The search data could not be read.");
    document.head.append(script);
  },

  // Words that a question has and that say nothing of what it is about.
  empty: new Set(("a an and are be by can do does for from has have how i in is it its my of on or that the they this to " +
    "was what when where which who why with").split(" ")),

  // The words of a text in small letters. Of a name such as kv_head or FlashAttention, its parts are words as well.
  words(text) {
    return (text.match(/[\p{L}\p{N}_+∞]+/gu) || []).flatMap((word) => {
      const parts = word.split(/_+|(?<=\p{Ll}{2})(?=\p{Lu}\p{Ll})/u).filter(Boolean);
      const whole = word.replace(/^_+|_+$/g, "");
      return (parts.length > 1 ? [whole, ...parts] : parts).map((part) => part.toLowerCase());
    });
  },

  // What else the pages may say for a word that people type.
  alike: {
    logsumexp: ["lse"], fp16: ["float16"], fp32: ["float32"], inf: ["∞"], infinity: ["∞"], infinite: ["∞"],
    sm: ["multiprocessor"], hbm: ["global"], sram: ["shared"], smem: ["shared"], autograd: ["gradient"],
    bwd: ["backward"], fwd: ["forward"], oob: ["out_of_bounds"], segfault: ["illegal_address"], hang: ["deadlock"],
    hangs: ["deadlock"], slow: ["fast"], wrong: ["wrong"], matmul: ["matmul", "product"], gemm: ["matmul"],
    swa: ["sliding"], mqa: ["multi-query", "grouped"], kvcache: ["cache"], tiling: ["tile"], rng: ["philox"],
  },

  // The words to look for: those of the query that say something, or all.
  wanted(query) {
    const words = search.words(query);
    const telling = words.filter((word) => !search.empty.has(word));
    return telling.length ? telling : words;
  },

  // What the forms of an English word begin with: "coalesced" is found by "coalescing".
  stem(word) {
    const stem = word.replace(/(ings?|ed|es|e|s)$/u, "");
    return stem.length >= 4 ? stem : word;
  },

  // Whether a page is the one for a phrase that people type: all telling words are in one of its phrases, and they are
  // more than half of that phrase.
  phrases: null,
  answers(address, words) {
    search.phrases ||= Object.fromEntries(Object.entries(window.searchPhrases || {}).map(([page, list]) =>
      [page, list.map((phrase) => search.words(phrase).filter((word) => !search.empty.has(word)))]));
    return (search.phrases[address] || []).some((phrase) => words.length * 2 > phrase.length &&
      words.every((word) => phrase.some(search.fits(word))));
  },

  prepare() {
    search.sections ||= window.searchData.map(([kind, title, heading, address, text, terms]) => ({
      kind, title, heading, address, text, all: text.toLowerCase(),
      inTitle: search.words(/^diagnostic_/.test(address) ? title.split(":")[0] : title), inHeading: search.words(heading), inText: search.words(text),
      terms: search.words(terms),
    }));
  },

  // A short word stands for itself, a longer one for all that begin as it does, and for what is alike.
  fits(word) {
    const stems = [word, ...(search.alike[word] || [])].map((one) => (one.length < 3 ? one : search.stem(one)));
    return (other) => stems.some((stem) => (stem.length < 3 ? other === stem : other.startsWith(stem)));
  },

  // How well a section answers, and how many of the words it has. Where a lesson explains counts for more than where it
  // sets a task.
  places: {"The idea": 8, "On the machine": 3, "The contract": -6, "Your turn": -6, "How fast, and why": -4,
           "What goes wrong": -3, "Going on": -4},
  score(section, words, phrase) {
    let sum = search.places[section.heading] || 0;
    let has = 0;
    for (const word of words) {
      const fits = search.fits(word);
      let found = 0;
      if (section.inTitle.includes(word)) found += 40;
      else if (section.inTitle.some(fits)) found += 25;
      if (section.inHeading.includes(word)) found += 24;
      else if (section.inHeading.some(fits)) found += 16;
      if (section.terms.some(fits)) found += 8;
      const times = section.inText.reduce((count, other) => count + fits(other), 0);
      if (times) found += 6 + Math.min(times, 4);
      if (found) has += 1;
      sum += found;
    }
    if (words.length > 1 && section.all.includes(phrase)) sum += 25;
    return {has, sum};
  },

  // The best section of each page. First the pages that have most of the words; among these, those that answer such a
  // question or whose title has all of them; then lessons, pages beside them, the reference, listings. A lesson that only mentions the words in passing
  // does not come before a page about them.
  find(query) {
    const words = search.wanted(query);
    const phrase = query.trim().toLowerCase();
    const best = new Map();
    for (const section of search.sections) {
      const {has, sum} = search.score(section, words, phrase);
      const page = section.address.split("#")[0];
      const other = best.get(page);
      const titled = section.kind < 2 && words.every((word) => section.inTitle.some(search.fits(word)));
      if (has && (!other || has > other.has || (has === other.has && sum > other.sum)))
        best.set(page, {section, has, sum, titled});
    }
    for (const page of Object.keys(window.searchPhrases || {})) {
      if (!search.answers(page, words)) continue;
      const {section, sum} = best.get(page) || {section: search.sections.find(({address}) => address.split("#")[0] === page), sum: 0};
      best.set(page, {section, has: words.length, sum: sum + 1000, titled: true});
    }
    const most = Math.max(...[...best.values()].map(({has}) => has));
    const found = [...best.values()].filter(({has}) => has === most);
    const top = Math.max(...found.map(({sum}) => sum % 1000));
    const group = ({section, sum, titled}) => (titled ? -1 : section.kind + (section.kind < 2 && sum < top / 4 ? 1.5 : 0));
    const sections = found.sort((a, b) => group(a) - group(b) || b.sum - a.sum).slice(0, 20).map(({section}) => section);
    return {sections, missing: words.length - Math.max(most, 0), words};
  },

  excerpt(section, words) {
    const at = Math.min(...words.map((word) => section.all.indexOf(search.stem(word))).map((i) => (i < 0 ? Infinity : i)));
    const from = at === Infinity ? 0 : Math.max(0, section.text.lastIndexOf(" ", at - 40) + 1);
    const piece = section.text.slice(from, from + 150);
    return (from ? "… " : "") + piece + (from + 150 < section.text.length ? " …" : "");
  },

  // Text with the words of the query marked, as nodes: nothing of a page is ever taken for markup.
  marked(text, words) {
    const escaped = (word) => word.replace(/\+/g, "\\+");
    const pieces = (word) => (word.length < 3 ? `${escaped(word)}(?![\\p{L}\\p{N}])` : escaped(search.stem(word)));
    const pattern = new RegExp(`(?<![\\p{L}\\p{N}])(${words.map((word) => pieces(word)).join("|")})`, "giu");
    return text.split(pattern).map((piece, i) => {
      if (i % 2 === 0) return piece;
      const mark = document.createElement("mark");
      mark.textContent = piece;
      return mark;
    });
  },

  show(sections, message, words = []) {
    const box = document.getElementById("found");
    const field = document.getElementById("search");
    box.replaceChildren();
    if (message) {
      const line = document.createElement("p");
      line.setAttribute("role", "status");
      line.textContent = message;
      box.append(line);
    }
    for (const section of sections) {
      const link = document.createElement("a");
      link.href = section.address;
      const title = document.createElement("strong");
      title.append(...search.marked(section.title, words));
      link.append(title);
      if (section.heading) link.append(" › ", ...search.marked(section.heading, words));
      const line = document.createElement("span");
      line.append(...search.marked(search.excerpt(section, words), words));
      link.append(line);
      box.append(link);
    }
    box.dataset.query = field.value.trim();
    box.hidden = !message;
    field.setAttribute("aria-expanded", String(!box.hidden));
  },

  run() {
    const query = document.getElementById("search").value;
    if (!search.words(query).length) return search.show([], "");
    if (!window.searchData) return search.load();
    search.prepare();
    const {sections, missing, words} = search.find(query);
    let message = sections.length === 20 ? "The best 20 pages" : `${sections.length} page${sections.length === 1 ? "" : "s"}`;
    if (!sections.length) message = `Nothing has these words: ${query.trim()}`;
    else if (missing) message = `No section has all of these words; ${missing === 1 ? "one is" : `${missing} are`} missing in these:`;
    search.show(sections, message, words);
  },

  start() {
    const field = document.getElementById("search");
    const box = document.getElementById("found");
    const links = () => [...box.querySelectorAll("a")];
    field.addEventListener("input", search.run);
    field.addEventListener("focus", search.run);
    field.form.addEventListener("submit", (event) => {
      event.preventDefault();
      if (links().length) location.href = links()[0].href;
    });
    field.form.addEventListener("keydown", (event) => {
      const all = [field, ...links()];
      const at = all.indexOf(document.activeElement);
      if (event.key === "ArrowDown" && at + 1 < all.length) all[at + 1].focus();
      else if (event.key === "ArrowUp" && at > 0) all[at - 1].focus();
      else if (event.key === "Escape") {
        field.focus();
        search.show([], "");
        return;
      } else return;
      event.preventDefault();
    });
    document.addEventListener("click", (event) => {
      if (!field.form.contains(event.target)) search.show([], "");
    });
    document.addEventListener("keydown", (event) => {
      const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement.tagName);
      if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
        event.preventDefault();
        field.focus();
      }
    });
  },
};

// ---- Chapters: beside the text on a wide screen, over it on a narrow one.

function startChapters() {
  const link = document.querySelector(".menu");
  const chapters = document.getElementById("chapters");
  if (!chapters) return;
  link.setAttribute("role", "button");
  link.setAttribute("aria-expanded", "false");
  link.setAttribute("aria-controls", "chapters");
  const show = (open) => {
    document.body.classList.toggle("chapters-open", open);
    link.setAttribute("aria-expanded", String(open));
    link.textContent = open ? "Close" : "Chapters";
    if (open) (chapters.querySelector("[aria-current]") || chapters.querySelector("a")).focus();
  };
  const toggle = (event) => {
    event.preventDefault();
    show(!document.body.classList.contains("chapters-open"));
  };
  link.addEventListener("click", toggle);
  link.addEventListener("keydown", (event) => {
    if (event.key === " ") toggle(event);
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && document.body.classList.contains("chapters-open")) {
      show(false);
      link.focus();
    }
  });
  const current = chapters.querySelector("[aria-current], .around");
  if (current && chapters.scrollHeight > chapters.clientHeight)
    chapters.scrollTop = current.offsetTop - chapters.clientHeight / 2;
}

// ---- Words that a link points at, as page.html?words=...#section: the first block behind the heading that has them.

function showWords() {
  const plain = (text) => (text.toLowerCase().match(/[\p{L}\p{N}]/gu) || []).join("");
  const words = plain(new URLSearchParams(location.search).get("words") || "");
  const heading = document.getElementById(location.hash.slice(1));
  if (!words || !heading) return;
  const blocks = document.querySelectorAll("main :is(p, li, tr, pre, .line, blockquote, h2, h3)");
  const block = [...blocks].find((element) => element.compareDocumentPosition(heading) & Node.DOCUMENT_POSITION_PRECEDING &&
    !element.closest(".toc") && plain(element.textContent).includes(words));
  if (!block) return;
  block.classList.add("pointed");
  const show = () => block.scrollIntoView({block: "center"});
  addEventListener("load", () => requestAnimationFrame(show)); // after the browser has gone to the heading
  addEventListener("typeset", show); // formulas have other heights than their originals
}

// ---- What is on this page: folded where it would fill the first screen.

function foldContents() {
  const contents = document.querySelector("details.toc");
  if (contents && matchMedia("(max-width: 860px)").matches) contents.open = false;
}

// ---- Code: a button that copies it.

function startCopying() {
  if (!navigator.clipboard) return;
  for (const fragment of document.querySelectorAll("div.fragment, pre.fragment")) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = "Copy";
    button.addEventListener("click", async () => {
      const lines = fragment.matches("pre") ? [fragment] : [...fragment.querySelectorAll(".line")];
      const text = lines.map((line) => {
        const copy = line.cloneNode(true);
        copy.querySelectorAll(".lineno, .copy").forEach((part) => part.remove());
        return copy.textContent.replace(/\n$/, "");
      });
      await navigator.clipboard.writeText(`${text.join("\n")}\n`);
      button.textContent = "Copied";
      setTimeout(() => (button.textContent = "Copy"), 1500);
    });
    const frame = document.createElement("div");
    frame.className = "code";
    fragment.replaceWith(frame);
    frame.append(fragment, button);
  }
}

document.addEventListener("DOMContentLoaded", () => {
  theme.apply(theme.read() || theme.preferred());
  document.querySelector(".theme").addEventListener("click", () => {
    theme.choose(document.documentElement.classList.contains("dark-mode") ? "light" : "dark");
  });
  search.start();
  startChapters();
  foldContents();
  startCopying();
  showWords();
});
