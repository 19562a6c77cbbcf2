// The interactive pages docs/steps.md and docs/steps_backward.md: one widget for both. steps.js and backward.js say what
// is shown. Nothing is computed here: every number and every sentence on the page is read from the data that
// export_steps.cpp has written.
(function () {
  "use strict";

  var SVG = "http://www.w3.org/2000/svg";
  var CELL = 26, EDGE = 26;  // of the map, in its own units

  // --- small helpers -------------------------------------------------------------------------------------------

  function add(parent, child) {
    if (child === null || child === undefined) return;
    if (Array.isArray(child)) child.forEach(function (one) { add(parent, one); });
    else parent.appendChild(typeof child === "string" ? document.createTextNode(child) : child);
  }

  function set(node, attributes) {
    Object.keys(attributes).forEach(function (name) { node.setAttribute(name, attributes[name]); });
    return node;
  }

  function element(tag, attributes, children) {
    var node = set(document.createElement(tag), attributes || {});
    add(node, children);
    return node;
  }

  function shape(tag, attributes, children) {
    var node = set(document.createElementNS(SVG, tag), attributes);
    add(node, children);
    return node;
  }

  function empty(node) {
    while (node.firstChild) node.removeChild(node.firstChild);
  }

  /** Text in which m_new, Q_i and the like get an index, and e^(...), 2^(...) and e^0 an exponent. */
  function formula(text) {
    var power = text.search(/[e2]\^/);
    if (power >= 0) {
      var end = power + 3;  // e^0
      if (text.charAt(power + 2) === "(") {
        for (var depth = 1; depth > 0 && end < text.length; ++end) {
          depth += { "(": 1, ")": -1 }[text.charAt(end)] || 0;
        }
      }
      var exponent = text.slice(power + 2, end).replace(/^\((.*)\)$/, "$1");
      return formula(text.slice(0, power)).concat(element("span", { "class": "fs-power" },
        [text.charAt(power), element("sup", {}, formula(exponent))]), formula(text.slice(end)));
    }
    return text.split(/(_[a-z]+)/).map(function (part) {
      return part.charAt(0) === "_" ? element("sub", {}, part.slice(1)) : part;
    });
  }

  /** Three decimals and a minus sign. */
  function number(value) {
    if (value === "-inf") return "−∞";
    var digits = Math.abs(value).toFixed(3);
    return (value < 0 && digits !== "0.000" ? "−" : "") + digits;
  }

  // --- the page ------------------------------------------------------------------------------------------------

  /**
   * Fills root with the steps of data.settings, shown as view says:
   *
   *   label        of the whole, for those who do not see it
   *   phases       what each phase of a step is called
   *   algorithm    lines: indentation, text, the phase that the line stands for, and where it matters the kernel. In the
   *                text, x_y is set with y as an index, a line may break at two spaces, and a part in brackets is a guard
   *   switches     [name, label, key] each
   *   slips        [name of the setting, label, { phase: the algorithm's line with the mistake }] each
   *   choose       (state) the name of the setting without a slip
   *   turned       (state) for each switch whether it is on, and whether it is fixed
   *   note         (state) a sentence about the switches
   *   masks        what each setting's mask is called
   *   blocks       [label, (step) whether it is a step of this block] each, under the title view.blocks_title
   *   jump         (setting) an index of a step to jump to, or null; with jump_label, jump_title
   *   layout       rows of boxes, [name, title, hint] each; and memory, [name, title]
   *   keeping      boxes with room for the earlier value below each number
   *   title        (step) what the step is about
   *   columns      (step) titles of columns for boxes that have some
   *   rows         (setting, step) the numbers of each box, as fill() takes them
   *   fresh        (step, step before) for each box whether what was in it is no earlier value of what is now
   *   passed       (step, row, column) whether the tile has passed
   *   same         (step, other) whether both are at the same place of the loops, but for the phase
   *   at           (step, row, column, the step now) whether it is a step at this place of the map
   */
  function start(root, data, view) {
    var state = { step: 0, slip: null, ask: true, verdict: null };
    view.switches.forEach(function (one) { state[one[0]] = false; });
    var settings = {};
    data.settings.forEach(function (setting) { settings[setting.name] = setting; });
    var tiles = data.rows / data.tile;
    var boxes = {};
    var ui = {};

    function setting() {
      return settings[state.slip || view.choose(state)];
    }

    function pair(tile) {
      return tile * data.tile + ", " + (tile * data.tile + data.tile - 1);
    }

    // A box is a table of numbers with a title; fill() gives it rows.
    function box(name, title, hint) {
      var table = element("table", { "class": "fs-matrix" }, [
        element("caption", {}, [element("span", { "class": "fs-name" }, formula(title)), hint ? " " + hint : null]),
        element("tbody", {})
      ]);
      boxes[name] = table;
      return element("div", { "class": "fs-box", "data-box": name }, table);
    }

    /**
     * rows: [[header, [value, ...]], ...] where null is what is not there; before: the values one step earlier, to
     * mark what this step changes; hidden(row, col): whether the mask hides the number. A box of view.keeping has room for
     * the earlier value below each number. right: what the numbers should be, where a slip is shown. A title of null is
     * that of a row or column that is not there.
     */
    function fill(name, columns, rows, before, hidden, right) {
      var body = boxes[name].tBodies[0], keeps = view.keeping.indexOf(name) >= 0;
      empty(body);
      boxes[name].parentNode.classList.toggle("fs-blank", rows.every(function (row) {
        return row[1].every(function (value) { return value === null; });
      }));
      if (columns) {
        add(body, element("tr", {}, [element("td", { "class": "fs-corner" })].concat(columns.map(function (title) {
          return title === null ? element("td", { "class": "fs-corner" }, "\u00a0") :
            element("th", { scope: "col" }, formula(title));
        }))));
      }
      rows.forEach(function (row, r) {
        add(body, element("tr", {}, [element("th", { scope: "row" },
          row[0] === null ? "\u00a0" : row[0])].concat(row[1].map(function (value, c) {
          if (value === null) {
            return element("td", { "class": "fs-none" },
              [element("span", { "aria-hidden": "true" }, "·"), keeps ? was(null) : null]);
          }
          var old = before ? before[r][c] : value;
          var changed = old === null || number(old) !== number(value);  // what is changed as it is shown
          var classes = ["fs-number"];
          if (changed) classes.push("fs-changed");
          var off = hidden && hidden(r, c);
          if (off) classes.push("fs-hidden");
          var cell = element("td", { "class": classes.join(" ") }, number(value));
          if (off) {
            cell.title = "hidden by the mask";
            add(cell, element("span", { "class": "fs-aloud" }, " hidden"));
          }
          var wanted = right ? right[r][1][c] : value;
          if (number(wanted) !== number(value)) {
            cell.classList.add("fs-wrong");
            cell.title = "right would be " + number(wanted);
            add(cell, keeps ? rightValue(wanted) : element("span", { "class": "fs-aloud" },
              ", right would be " + number(wanted)));
          } else if (keeps) {
            add(cell, was(changed ? old : null));
          }
          return cell;
        }))));
      });
    }

    /** The earlier value of a number, small and struck; aloud "was 1.687". */
    function was(value) {
      if (value === null) return element("span", { "class": "fs-was", "aria-hidden": "true" }, "\u00a0");
      return element("span", { "class": "fs-was" }, [element("span", { "class": "fs-aloud" }, ", was "),
        element("span", { "class": "fs-struck" }, number(value))]);
    }

    /** What a wrong number should be, small; aloud "right would be 1.687". */
    function rightValue(value) {
      return element("span", { "class": "fs-was fs-right" }, [
        element("span", { "class": "fs-aloud" }, ", right would be "),
        element("span", { "aria-hidden": "true" }, "≠ "), number(value)]);
    }

    // --- building, once ----------------------------------------------------------------------------------------

    function button(label, classes, action, attributes) {
      var node = element("button", Object.assign({ type: "button", "class": classes }, attributes || {}), label);
      node.addEventListener("click", function () {
        if (node.getAttribute("aria-disabled") !== "true") action();
      });
      return node;
    }

    function toggle(name, label, key, action) {
      return button([
        element("span", { "class": "fs-track", "aria-hidden": "true" }, element("span", { "class": "fs-knob" })),
        element("span", {}, label), element("kbd", { "aria-hidden": "true" }, key)
      ], "fs-switch", action || function () { flip(name); },
        { role: "switch", "aria-checked": "false", "aria-describedby": id("note"), "data-switch": name });
    }

    /** The button over a tile of the map. */
    function place(row, col) {
      var node = button([], "fs-place", function () { go(stepAt(row, col)); }, { "data-place": row + "-" + col,
        "aria-label": "queries " + pair(row) + ", keys " + pair(col),
        title: "Go to queries " + pair(row) + ", keys " + pair(col) });
      var percent = function (units) { return 100 * units / (EDGE + data.rows * CELL + 2) + "%"; };
      node.style.left = percent(EDGE + col * data.tile * CELL);
      node.style.top = percent(EDGE + row * data.tile * CELL);
      node.style.width = node.style.height = percent(data.tile * CELL);
      return node;
    }

    /** An id that no other widget has. */
    function id(name) {
      return root.id + "-" + name;
    }

    /** Chooses a mistake, or none. */
    function slipChoice() {
      var select = element("select", { "class": "fs-select", "data-go": "slip", "aria-labelledby": id("slip-label") },
        [["", "nothing is wrong"]].concat(view.slips).map(function (slip) {
          return element("option", { value: slip[0] }, slip[1]);
        }));
      select.addEventListener("change", function () {
        var step = setting().steps[state.step];
        state.slip = select.value || null;
        go(placeLike(step));
      });
      return select;
    }

    function build() {
      ui.switches = {};
      view.switches.forEach(function (one) { ui.switches[one[0]] = toggle(one[0], one[1], one[2]); });
      ui.asking = toggle("ask", "Questions", "q", function () {
        state.ask = !state.ask;
        state.verdict = null;
        show();
        remember();
      });
      ui.slip = slipChoice();
      ui.note = element("p", { "class": "fs-note", id: id("note") });
      ui.tiles = view.blocks.map(function (block, number) {
        return button(block[0], "fs-tile", function () { go(stepWhere(block[1])); },
          { "data-tile": String(number), "aria-label": block[2] });
      });
      ui.nav = {
        first: button("First", "fs-button", function () { go(0); }, { "data-go": "first" }),
        back: button("Back", "fs-button", function () { go(state.step - 1); }, { "data-go": "back" }),
        next: button("Next", "fs-button fs-primary", function () { go(state.step + 1); }, { "data-go": "next" }),
        last: button("Last", "fs-button", function () { go(setting().steps.length - 1); }, { "data-go": "last" })
      };
      ui.count = element("span", { "class": "fs-count" });
      ui.says = element("div", { "class": "fs-says", "aria-live": "polite", "aria-atomic": "true" });
      ui.ask = element("div", { "class": "fs-ask", role: "group", "aria-label": "A question on the next step" });
      ui.report = element("div", { "class": "fs-report" }, [
        element("p", { "class": "fs-heading" }, ["What ", element("code", {}, "./course check"), " says of this kernel"]),
        element("pre", { tabindex: "0" })
      ]);
      ui.jump = view.jump ? button(view.jump_label, "fs-button", function () { go(view.jump(setting())); },
        { "data-go": "rescale", title: view.jump_title }) : null;
      ui.picture = element("div", {});
      ui.places = [];
      for (var row = 0; row < tiles; ++row) for (var col = 0; col < tiles; ++col) ui.places.push(place(row, col));
      ui.map = element("div", { "class": "fs-map", role: "group", "aria-label": "Tiles of queries and keys" },
        [ui.picture, ui.places]);
      ui.mask = element("span", { "class": "fs-paper" });
      ui.lines = view.algorithm.map(function (line) {
        return element("li", { "class": "fs-line fs-indent-" + line[0], "data-line": line[2] || "" }, parts(line[1]));
      });

      add(root, element("section", { "class": "fs", "aria-label": view.label }, [
        element("div", { "class": "fs-bar" }, [
          element("div", { "class": "fs-group", role: "group", "aria-labelledby": id("mask-label") }, [
            element("span", { "class": "fs-label", id: id("mask-label") }, "Mask"),
            view.switches.map(function (one) { return ui.switches[one[0]]; })
          ]),
          element("div", { "class": "fs-group", role: "group", "aria-labelledby": id("tile-label") }, [
            element("span", { "class": "fs-label", id: id("tile-label") }, view.blocks_title)
          ].concat(ui.tiles, ui.jump)),
          element("div", { "class": "fs-group" }, [
            view.slips.length === 0 ? null :
              [element("span", { "class": "fs-label", id: id("slip-label") }, "What if"), ui.slip],
            ui.asking
          ]),
          ui.note
        ]),
        element("div", { "class": "fs-nav", role: "group", "aria-label": "Steps" },
          [ui.nav.first, ui.nav.back, ui.count, ui.nav.next, ui.nav.last, ui.mask]),
        ui.says,
        element("div", { "class": "fs-main" }, [
          element("div", { "class": "fs-work" }, [
            element("p", { "class": "fs-heading fs-first" }, "The block, after this step"),
            element("div", { "class": "fs-boxes" }, view.layout.map(function (row) {
              return element("div", { "class": "fs-row" }, row.map(function (one) { return box(one[0], one[1], one[2]); }));
            })),
            element("ul", { "class": "fs-legend" }, [
              element("li", {}, [sample("fs-number fs-changed", "0.000"), "changed by this step"]),
              element("li", {}, [element("span", { "class": "fs-struck" }, "0.000"), "its value before"]),
              element("li", {}, [sample("fs-number fs-hidden", "−∞"), "hidden by the mask"]),
              element("li", {}, [sample("fs-none", "·"), "not there"]),
              view.slips.length === 0 ? null : element("li", {}, [sample("fs-number fs-wrong", "0.000"), "wrong, by the mistake"])
            ]),
            element("div", { "class": "fs-memory" }, [
              element("p", { "class": "fs-heading" }, "Global memory, after this step"),
              box(view.memory[0], view.memory[1])
            ]),
            view.slips.length === 0 ? null : ui.report
          ]),
          element("div", { "class": "fs-side" }, [
            ui.ask,
            element("div", { "class": "fs-code-box" }, [
              element("p", { "class": "fs-heading" }, "The algorithm"),
              element("ol", { "class": "fs-code" }, ui.lines)
            ]),
            element("div", { "class": "fs-map-box" }, [
              element("p", { "class": "fs-heading" }, "Queries ↓ and keys →"),
              ui.map,
              element("ul", { "class": "fs-legend" }, [
                element("li", {}, [swatch("fs-swatch-seen"), "seen"]),
                element("li", {}, [swatch("fs-swatch-passed"), "has passed"]),
                element("li", {}, [swatch("fs-swatch-hidden"), "hidden"]),
                element("li", {}, [swatch("fs-swatch-now"), "this tile"])
              ])
            ])
          ])
        ]),
        element("ul", { "class": "fs-keys", "aria-label": "Keys" }, view.keys.map(function (entry) {
          return element("li", {}, [entry[0].map(function (key) { return element("kbd", {}, key); }), " " + entry[1]]);
        }))
      ]));
    }

    /** A line of the algorithm, in parts between which it may break. */
    function parts(text) {
      return text.split("  ").map(function (part) {
        return [element("span", { "class": "fs-part" + (part.charAt(0) === "(" ? " fs-guard" : "") }, formula(part)), " "];
      });
    }

    function sample(classes, text) {
      return element("span", { "class": classes + " fs-sample" }, text);
    }

    function swatch(name) {
      return element("span", { "class": "fs-swatch " + name, "aria-hidden": "true" });
    }

    // --- showing a step ----------------------------------------------------------------------------------------

    function showMap(now, step) {
      var size = EDGE + data.rows * CELL + 2;
      var svg = shape("svg", { viewBox: "0 0 " + size + " " + size, role: "img", "aria-label": mapInWords(now) }, [
        shape("defs", {}, shape("pattern", { id: id("hatch"), width: 6, height: 6, patternUnits: "userSpaceOnUse",
          patternTransform: "rotate(45)" }, shape("rect", { "class": "fs-hatch", width: 1.6, height: 6 })))
      ]);
      var edge = function (index) { return EDGE + index * CELL; };
      for (var n = 0; n < data.rows; ++n) {
        add(svg, shape("text", { x: edge(n) + CELL / 2, y: EDGE - 8, "class": "fs-axis" }, String(n)));
        add(svg, shape("text", { x: EDGE - 12, y: edge(n) + CELL / 2 + 4, "class": "fs-axis" }, String(n)));
      }
      now.sees.forEach(function (row, i) {
        row.forEach(function (seen, j) {
          var tileRow = Math.floor(i / data.tile), tileCol = Math.floor(j / data.tile);
          var passed = seen && view.passed(step, tileRow, tileCol);
          var at = { x: edge(j), y: edge(i), width: CELL, height: CELL };
          add(svg, shape("rect", Object.assign({ "class": "fs-cell " + (seen ? passed ? "fs-passed" : "fs-seen" :
            "fs-unseen") }, at)));
          if (passed) {
            add(svg, shape("circle", { cx: at.x + CELL / 2, cy: at.y + CELL / 2, r: 3.5, "class": "fs-dot" }));
          }
          if (!seen) add(svg, shape("rect", Object.assign({ fill: "url(#" + id("hatch") + ")" }, at)));
        });
      });
      for (var i = 0; i < tiles; ++i) {
        for (var j = 0; j < tiles; ++j) {
          add(svg, shape("rect", { x: edge(i * data.tile), y: edge(j * data.tile), width: CELL * data.tile,
            height: CELL * data.tile, "class": "fs-frame" }));
        }
      }
      // The block's own tile is a band across the map, and the pair of tiles a square in it.
      var whole = data.rows * CELL, side = CELL * data.tile, byKeys = step.kernel === "keys";
      add(svg, shape("rect", byKeys
        ? { x: edge(step.key_tile * data.tile), y: EDGE, width: side, height: whole, "class": "fs-band" }
        : { x: EDGE, y: edge(step.query_tile * data.tile), width: whole, height: side, "class": "fs-band" }));
      if (step.key_tile !== null && step.query_tile !== null) {
        add(svg, shape("rect", { x: edge(step.key_tile * data.tile), y: edge(step.query_tile * data.tile), width: side,
          height: side, "class": "fs-now" }));
      }
      empty(ui.picture);
      add(ui.picture, svg);
      ui.places.forEach(function (node, tile) {
        var here = step.key_tile !== null && step.query_tile !== null && tile === step.query_tile * tiles + step.key_tile;
        if (here) node.setAttribute("aria-current", "true");
        else node.removeAttribute("aria-current");
      });
    }

    function mapInWords(now) {
      return now.sees.map(function (row, i) {
        var keys = [];
        row.forEach(function (seen, j) { if (seen) keys.push(j); });
        return "Query " + i + " sees " + (keys.length === row.length ? "all keys" :
          (keys.length === 1 ? "key " : "keys ") + keys.join(", ")) + ".";
      }).join(" ");
    }

    /** What a step does: its title, the sentence for the tile, and those of its queries side by side. */
    function inWords(step) {
      // A line breaks before a sign, and neither within a product nor within a row of numbers.
      var paragraph = function (text) {
        return element("p", {}, formula(text.replace(/ · /g, "\u00a0·\u00a0").replace(/= /g, "=\u00a0").replace(
          /\([^()]*, [^()]*\)/g, function (row) { return row.replace(/ /g, "\u00a0"); })));
      };
      return [
        element("p", { "class": "fs-title" }, [
          view.title(step, pair) + ": ", element("strong", {}, view.phases[step.phase])
        ]),
        paragraph(step.says[0]),
        element("div", { "class": "fs-queries" }, step.says.slice(1).map(function (sentence) {
          return element("div", {}, sentence.split("\n").map(paragraph));
        }))
      ];
    }

    /** What the answer that was picked is worth. */
    function verdictOf(question, picked) {
      var right = question.choices[question.right], choice = question.choices[picked];
      return element("p", { "class": "fs-verdict", role: "status" }, picked === question.right
        ? [element("strong", {}, "✓ " + number(right.value) + " is right: "), formula(right.says), "."]
        : [element("strong", {}, "✗ Not " + number(choice.value) + ": "), formula(choice.says), ". Right is ",
          element("strong", {}, number(right.value)), ": ", formula(right.says), "."]);
    }

    /** The verdict on the last answer, if there is one, and the question on the next step, if there is one. */
    function inQuestion(verdict, question) {
      return [verdict, element("div", { "class": "fs-question" }, question === null
        ? element("p", { "class": "fs-quiet" }, "No question before the next step.")
        : [element("p", {}, ["What comes next? ", formula(question.text)]),
          element("div", { "class": "fs-choices" }, question.choices.map(function (choice, index) {
            return button(number(choice.value), "fs-button fs-choice", function () { answer(index); },
              { "data-choice": String(index) });
          }))])];
    }

    /** The question that the step after the one shown answers; null if there is none. */
    function nextQuestion() {
      var next = setting().steps[state.step + 1];
      return next && next.asks ? next.asks : null;
    }

    function answer(index) {
      var question = nextQuestion();
      go(state.step + 1, { question: question, picked: index });
    }

    /** Gives a part of the page the height of the tallest of its contents at this width, so that nothing moves. */
    function reserveFor(node, contents) {
      var trial = element("div", { "class": "fs-trial", "aria-hidden": "true" });
      contents.forEach(function (content) { add(trial, element("div", { "class": node.className }, content)); });
      add(node.parentNode, trial);
      var height = Math.max.apply(null, Array.prototype.map.call(trial.childNodes, function (one) {
        return one.getBoundingClientRect().height;
      }));
      node.parentNode.removeChild(trial);
      node.style.minHeight = Math.ceil(height) + "px";
    }

    function reserve() {
      var width = ui.says.clientWidth;
      if (width === 0 || width === ui.reserved) return;
      ui.reserved = width;
      var told = {}, says = [], asks = [], longest = { verdict: 0, question: 0 };
      data.settings.forEach(function (setting) {
        setting.steps.forEach(function (step) {
          var key = step.says.join();
          if (!told[key]) says.push(inWords(step));
          told[key] = true;
          if (!step.asks) return;
          // Of all verdicts and all questions the longest ones, which are wrong answers, together.
          step.asks.choices.forEach(function (choice, index) {
            var length = index === step.asks.right ? 0 : choice.says.length + step.asks.choices[step.asks.right].says.length;
            if (length > longest.verdict) longest.verdict = length, longest.wrong = [step.asks, index];
          });
          if (step.asks.text.length > longest.question) longest.question = step.asks.text.length, longest.asks = step.asks;
        });
      });
      reserveFor(ui.says, says);
      if (longest.wrong) asks.push(inQuestion(verdictOf(longest.wrong[0], longest.wrong[1]), longest.asks));
      ui.ask.hidden = false;
      reserveFor(ui.ask, asks);
      showQuestion();
    }

    function showQuestion() {
      var focused = ui.ask.contains(document.activeElement), verdict = state.verdict;
      empty(ui.ask);
      ui.ask.hidden = !state.ask || state.slip !== null;
      if (!ui.ask.hidden) {
        add(ui.ask, inQuestion(verdict ? verdictOf(verdict.question, verdict.picked) : null, nextQuestion()));
      }
      // Who answers by keyboard goes on with the next question, or with the next step.
      if (focused) (ui.ask.querySelector(".fs-choice") || ui.nav.next).focus({ preventScroll: true });
    }

    function show() {
      var now = setting(), steps = now.steps, step = steps[state.step];
      var earlier = state.step > 0 ? steps[state.step - 1] : null;
      var rows = view.rows(now, step), before = earlier ? view.rows(now, earlier) : null;
      var model = now.right ? settings[now.right] : null;
      var right = model ? view.rows(model, model.steps[state.step]) : null;
      var fresh = earlier ? view.fresh(step, earlier) : {};
      var columns = view.columns(step);
      var hidden = function (row, col) {
        return !now.sees[step.query_tile * data.tile + row][step.key_tile * data.tile + col];
      };
      root.setAttribute("data-setting", now.name);
      root.setAttribute("data-step", String(state.step + 1));
      Object.keys(boxes).forEach(function (name) {
        // What another tile of queries or keys held here is no earlier value of these numbers.
        var old = rows[name].map(function (row, r) {
          return row[1].map(function (value, c) { return !before || fresh[name] ? null : before[name][r][1][c]; });
        });
        fill(name, columns[name] || null, rows[name], old, view.masked.indexOf(name) >= 0 ? hidden : null,
          right && right[name]);
      });
      showMap(now, step);

      empty(ui.says);
      add(ui.says, inWords(step));
      showQuestion();

      empty(ui.count);
      add(ui.count, [element("span", { "class": "fs-word" }, "Step "), String(state.step + 1),
        element("span", { "class": "fs-word" }, " of "), element("span", { "class": "fs-slash" }, " / "),
        String(steps.length)]);
      var atStart = state.step === 0, atEnd = state.step === steps.length - 1;
      ui.nav.first.setAttribute("aria-disabled", String(atStart));
      ui.nav.back.setAttribute("aria-disabled", String(atStart));
      ui.nav.next.setAttribute("aria-disabled", String(atEnd));
      ui.nav.last.setAttribute("aria-disabled", String(atEnd));

      ui.tiles.forEach(function (node, tile) {
        node.setAttribute("aria-pressed", String(view.blocks[tile][1](step)));
      });
      showAlgorithm(step);
      if (ui.jump) ui.jump.hidden = view.jump(now) === null;
      ui.mask.textContent = "Mask: " + view.masks[now.name];
      showSwitches();
    }

    function showAlgorithm(step) {
      var slip = view.slips.filter(function (one) { return one[0] === state.slip; })[0];
      ui.lines.forEach(function (node, line) {
        var of = view.algorithm[line], mistaken = slip && slip[2][of[2]];
        var on = of[2] === step.phase && (!of[3] || of[3] === step.kernel);
        if (node.fsSlip !== mistaken) {
          empty(node);
          add(node, parts(mistaken || of[1]));
          node.fsSlip = mistaken;
        }
        node.classList.toggle("fs-mistaken", Boolean(mistaken));
        node.classList.toggle("fs-on", on);
        if (on) node.setAttribute("aria-current", "step");
        else node.removeAttribute("aria-current");
        // The guard acts where no key has been seen yet.
        node.classList.toggle("fs-acts", on && Boolean(step.m_new) && step.m_new.indexOf("-inf") >= 0);
      });
    }

    function showSwitches() {
      var turned = view.turned(state);
      Object.keys(ui.switches).forEach(function (name) {
        ui.switches[name].setAttribute("aria-checked", String(state.slip === null && turned[name][0]));
        ui.switches[name].setAttribute("aria-disabled", String(state.slip !== null || turned[name][1]));
      });
      ui.asking.setAttribute("aria-checked", String(state.ask));
      ui.asking.setAttribute("aria-disabled", String(state.slip !== null));
      ui.slip.value = state.slip || "";
      var note = state.slip !== null
        ? "A kernel with this mistake, without a mask. Each wrong number has the right one beside it, and below the numbers " +
          "stands the report that the kernel gets."
        : view.note(state);
      if (ui.note.textContent !== note) ui.note.textContent = note;
      ui.report.hidden = state.slip === null;
      if (state.slip !== null) ui.report.querySelector("pre").textContent = window.flashReports[state.slip];
    }

    // --- moving ------------------------------------------------------------------------------------------------

    /** The first step for which this holds; 0 if it holds for none. */
    function stepWhere(holds) {
      var steps = setting().steps;
      for (var i = 0; i < steps.length; ++i) if (holds(steps[i])) return i;
      return 0;
    }

    function stepAt(row, col) {
      var now = setting().steps[state.step];
      return stepWhere(function (step) { return view.at(step, row, col, now); });
    }

    /** The step of the setting that is at the place of another's: in the same phase, if there is one. */
    function placeLike(other) {
      var exact = function (step) { return view.same(step, other) && step.phase === other.phase; };
      return setting().steps.some(exact) ? stepWhere(exact) : stepWhere(function (step) { return view.same(step, other); });
    }

    function go(step, verdict) {
      state.step = Math.max(0, Math.min(step, setting().steps.length - 1));
      state.verdict = verdict || null;
      show();
      remember();
    }

    /** Changes a switch, and stays at the same place of the loop. */
    function flip(name) {
      var step = setting().steps[state.step];
      state[name] = !state[name];
      go(placeLike(step));
    }

    function remember() {
      var parts = ["step=" + (state.step + 1)];
      view.switches.forEach(function (one) {
        if (state.slip === null && state[one[0]] && view.turned(state)[one[0]][0]) parts.push(one[0] + "=1");
      });
      if (state.slip !== null) parts.push("if=" + state.slip);
      if (!state.ask) parts.push("questions=0");
      var hash = "#" + parts.join("&");
      try {
        window.history.replaceState(window.history.state, "", hash);
      } catch (error) {
        window.location.replace(hash);  // where a browser refuses this to files
      }
    }

    /** Takes the state from the address, if there is one in it. */
    function recall() {
      var values = {};
      window.location.hash.slice(1).split("&").forEach(function (part) {
        var middle = part.indexOf("=");
        if (middle > 0) values[part.slice(0, middle)] = part.slice(middle + 1);
      });
      if (!/^[0-9]{1,6}$/.test(values.step || "")) return;
      view.switches.forEach(function (one) { state[one[0]] = values[one[0]] === "1"; });
      var named = view.slips.some(function (slip) { return slip[0] === values["if"]; });
      state.slip = named ? values["if"] : null;
      state.ask = values.questions !== "0";
      state.verdict = null;
      state.step = Math.max(0, Math.min(Number(values.step), setting().steps.length) - 1);
      show();
    }

    /**
     * Whether keys are meant for this widget: it has the focus; or nothing beside it has, and half of the widget or of
     * the window shows it.
     */
    function listens(event) {
      if (event.ctrlKey || event.altKey || event.metaKey || event.shiftKey || event.defaultPrevented) return false;
      var focus = document.activeElement;
      if (focus && (focus.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(focus.tagName))) return false;
      if (focus && root.contains(focus)) return true;
      if (focus && !focus.contains(root)) return false;  // a click on plain text may focus what is around it
      var box = root.getBoundingClientRect();
      var seen = Math.min(box.bottom, window.innerHeight) - Math.max(box.top, 0);
      return 2 * seen >= Math.min(box.height, window.innerHeight);
    }

    function onKey(event) {
      if (!listens(event)) return;
      var action = {
        ArrowLeft: function () { go(state.step - 1); },
        ArrowRight: function () { go(state.step + 1); },
        Home: function () { go(0); },
        End: function () { go(setting().steps.length - 1); },
        r: function () { if (ui.jump && !ui.jump.hidden) ui.jump.click(); },
        q: function () { if (!event.repeat) ui.asking.click(); }
      }[event.key];
      view.switches.forEach(function (one) {
        if (event.key === one[2]) action = function () { if (!event.repeat) ui.switches[one[0]].click(); };
      });
      if (!action) return;
      event.preventDefault();
      action();
    }

    build();
    show();
    recall();
    reserve();
    window.addEventListener("resize", reserve);
    window.addEventListener("load", function () { ui.reserved = 0; reserve(); });  // the style sheet is there now
    document.addEventListener("keydown", onKey);
    window.addEventListener("hashchange", recall);
  }

  /** Shows data in the element with this id, once it is there; view gets the data. */
  window.flashWidget = function (id, data, view) {
    function run() {
      var root = document.getElementById(id);
      if (!root) return;
      if (data) start(root, data, view(data));
      else root.textContent = "The steps are missing: steps_data.js has not been loaded.";
    }
    if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", run);
    else run();
  };
})();
