// The interactive part of docs/steps.md: fills <div id="flash-steps"> from window.flashSteps (steps_data.js, written
// by export_steps.cpp). Nothing is computed here: every number and every sentence on the page is read from the data.
(function () {
  "use strict";

  var PHASES = {
    load: "load the queries",
    scores: "scores",
    maximum: "new maximum",
    rescale: "rescale l and O",
    weights: "weights",
    store: "divide and store",
    skip: "skipped"
  };

  // The loop of lesson 09: indentation, the text, and the phase that it stands for. In the text, x_y is set with y as
  // an index, a line may break at two spaces, and a part in brackets is the guard against NaN.
  var ALGORITHM = [
    [0, "for each tile of queries i (one block):", null],
    [1, "load Q_i;  m ← −∞;  l ← 0;  O ← 0", "load"],
    [1, "for each tile of keys j:", null],
    [2, "if no query of i sees a key of j: skip it", "skip"],
    [2, "load K_j, V_j;  S ← Q_i · K_jᵀ · scale;  hidden: −∞", "scores"],
    [2, "m_new ← max(m, max of the row of S)", "maximum"],
    [2, "f ← e^(m − m_new)  (0 if m_new = −∞);  l ← f · l;  O ← f · O", "rescale"],
    [2, "P ← e^(S − m_new)  (0 if m_new = −∞);  l ← l + Σ P;  O ← O + P · V_j;  m ← m_new", "weights"],
    [1, "store O / l  and  lse = m + log l", "store"]
  ];

  var KEYS = [
    [["←"], "back"], [["→"], "next"], [["Home"], "first step"], [["End"], "last step"],
    [["r"], "first rescale"], [["c"], "causal"], [["w"], "window"], [["s"], "sinks"]
  ];

  var MASKS = { all: "none", causal: "causal", window: "window", sinks: "window and sinks" };

  var KEEPING = ["rows", "O", "result"];  // boxes whose numbers are changed, not only set

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

  /** Text in which m_new, Q_i and the like get an index, and e^(...) and e^0 an exponent. */
  function formula(text) {
    var power = text.indexOf("e^");
    if (power >= 0) {
      var end = power + 3;  // e^0
      if (text.charAt(power + 2) === "(") {
        for (var depth = 1; depth > 0 && end < text.length; ++end) {
          depth += { "(": 1, ")": -1 }[text.charAt(end)] || 0;
        }
      }
      var exponent = text.slice(power + 2, end).replace(/^\((.*)\)$/, "$1");
      return formula(text.slice(0, power)).concat(element("span", { "class": "fs-power" },
        ["e", element("sup", {}, formula(exponent))]), formula(text.slice(end)));
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

  function start(root, data) {
    var state = { step: 0, causal: false, window: false, sinks: false };
    var settings = {};
    data.settings.forEach(function (setting) { settings[setting.name] = setting; });
    var tiles = data.rows / data.tile;
    var boxes = {};
    var ui = {};

    function setting() {
      if (state.window) return state.sinks ? settings.sinks : settings.window;
      return state.causal ? settings.causal : settings.all;
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
     * mark what this step changes; hidden(row, col): whether the mask hides the number. A box of KEEPING has room for
     * the earlier value below each number. A title of null is that of a row or column that is not there.
     */
    function fill(name, columns, rows, before, hidden) {
      var body = boxes[name].tBodies[0], keeps = KEEPING.indexOf(name) >= 0;
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
          if (keeps) add(cell, was(changed ? old : null));
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

    // --- building, once ----------------------------------------------------------------------------------------

    function button(label, classes, action, attributes) {
      var node = element("button", Object.assign({ type: "button", "class": classes }, attributes || {}), label);
      node.addEventListener("click", function () {
        if (node.getAttribute("aria-disabled") !== "true") action();
      });
      return node;
    }

    function toggle(name, label, key) {
      return button([
        element("span", { "class": "fs-track", "aria-hidden": "true" }, element("span", { "class": "fs-knob" })),
        element("span", {}, label), element("kbd", { "aria-hidden": "true" }, key)
      ], "fs-switch", function () { flip(name); },
        { role: "switch", "aria-checked": "false", "aria-describedby": "fs-note", "data-switch": name });
    }

    /** The button over a tile of the map. */
    function place(row, col) {
      var node = button([], "fs-place", function () { go(stepOf(row, col)); }, { "data-place": row + "-" + col,
        "aria-label": "queries " + pair(row) + ", keys " + pair(col),
        title: "Go to queries " + pair(row) + ", keys " + pair(col) });
      var percent = function (units) { return 100 * units / (EDGE + data.rows * CELL + 2) + "%"; };
      node.style.left = percent(EDGE + col * data.tile * CELL);
      node.style.top = percent(EDGE + row * data.tile * CELL);
      node.style.width = node.style.height = percent(data.tile * CELL);
      return node;
    }

    function build() {
      ui.switches = {
        causal: toggle("causal", "Causal", "c"),
        window: toggle("window", "Window of " + settings.window.window + " keys", "w"),
        sinks: toggle("sinks", settings.sinks.sinks + " sink token", "s")
      };
      ui.note = element("p", { "class": "fs-note", id: "fs-note" });
      ui.tiles = [];
      for (var i = 0; i < tiles; ++i) {
        ui.tiles.push(button(pair(i), "fs-tile", (function (tile) {
          return function () { go(stepOf(tile, null)); };
        })(i), { "data-tile": String(i), "aria-label": "queries " + pair(i) }));
      }
      ui.nav = {
        first: button("First", "fs-button", function () { go(0); }, { "data-go": "first" }),
        back: button("Back", "fs-button", function () { go(state.step - 1); }, { "data-go": "back" }),
        next: button("Next", "fs-button fs-primary", function () { go(state.step + 1); }, { "data-go": "next" }),
        last: button("Last", "fs-button", function () { go(setting().steps.length - 1); }, { "data-go": "last" })
      };
      ui.count = element("span", { "class": "fs-count" });
      ui.says = element("div", { "class": "fs-says", "aria-live": "polite", "aria-atomic": "true" });
      ui.rescale = button("First rescale", "fs-button", function () { go(setting().first_rescale); },
        { "data-go": "rescale", title: "The first step with a factor that is neither 0 nor 1" });
      ui.picture = element("div", {});
      ui.places = [];
      for (var row = 0; row < tiles; ++row) for (var col = 0; col < tiles; ++col) ui.places.push(place(row, col));
      ui.map = element("div", { "class": "fs-map", role: "group", "aria-label": "Tiles of queries and keys" },
        [ui.picture, ui.places]);
      ui.mask = element("span", { "class": "fs-paper" });
      ui.lines = ALGORITHM.map(function (line) {
        return element("li", { "class": "fs-line fs-indent-" + line[0], "data-line": line[2] || "" },
          line[1].split("  ").map(function (part) {
            return [element("span", { "class": "fs-part" + (part.charAt(0) === "(" ? " fs-guard" : "") },
              formula(part)), " "];
          }));
      });

      add(root, element("section", { "class": "fs", "aria-label": "FlashAttention-2, forward, step by step" }, [
        element("div", { "class": "fs-bar" }, [
          element("div", { "class": "fs-group", role: "group", "aria-labelledby": "fs-mask-label" }, [
            element("span", { "class": "fs-label", id: "fs-mask-label" }, "Mask"),
            ui.switches.causal, ui.switches.window, ui.switches.sinks
          ]),
          element("div", { "class": "fs-group", role: "group", "aria-labelledby": "fs-tile-label" }, [
            element("span", { "class": "fs-label", id: "fs-tile-label" }, "Queries")
          ].concat(ui.tiles, ui.rescale)),
          ui.note
        ]),
        element("div", { "class": "fs-nav", role: "group", "aria-label": "Steps" },
          [ui.nav.first, ui.nav.back, ui.count, ui.nav.next, ui.nav.last, ui.mask]),
        ui.says,
        element("div", { "class": "fs-main" }, [
          element("div", { "class": "fs-work" }, [
            element("p", { "class": "fs-heading fs-first" }, "The block, after this step"),
            element("div", { "class": "fs-boxes" }, [
              element("div", { "class": "fs-row" },
                [box("rows", "m, l", "and the factor"), box("O", "O", "not divided by l")]),
              element("div", { "class": "fs-row" },
                [box("S", "S", "scores"), box("P", "P", "weights"), box("lse", "lse")]),
              element("div", { "class": "fs-row" }, [box("result", "O / l", "so far"), box("V", "V")]),
              element("div", { "class": "fs-row" }, [box("Q", "Q"), box("K", "K")])
            ]),
            element("ul", { "class": "fs-legend" }, [
              element("li", {}, [sample("fs-number fs-changed", "0.000"), "changed by this step"]),
              element("li", {}, [element("span", { "class": "fs-struck" }, "0.000"), "its value before"]),
              element("li", {}, [sample("fs-number fs-hidden", "−∞"), "hidden by the mask"]),
              element("li", {}, [sample("fs-none", "·"), "not there"])
            ]),
            element("p", { "class": "fs-heading" }, "Global memory, after this step"),
            box("memory", "O and lse")
          ]),
          element("div", { "class": "fs-side" }, [
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
        element("ul", { "class": "fs-keys", "aria-label": "Keys" }, KEYS.map(function (entry) {
          return element("li", {}, [entry[0].map(function (key) { return element("kbd", {}, key); }), " " + entry[1]]);
        }))
      ]));
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
        shape("defs", {}, shape("pattern", { id: "fs-hatch", width: 6, height: 6, patternUnits: "userSpaceOnUse",
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
          var passed = seen && (tileRow < step.query_tile || (tileRow === step.query_tile &&
            (step.phase === "store" || (step.key_tile !== null && (tileCol < step.key_tile ||
              (tileCol === step.key_tile && step.phase === "weights"))))));
          var at = { x: edge(j), y: edge(i), width: CELL, height: CELL };
          add(svg, shape("rect", Object.assign({ "class": "fs-cell " + (seen ? passed ? "fs-passed" : "fs-seen" :
            "fs-unseen") }, at)));
          if (passed) {
            add(svg, shape("circle", { cx: at.x + CELL / 2, cy: at.y + CELL / 2, r: 3.5, "class": "fs-dot" }));
          }
          if (!seen) add(svg, shape("rect", Object.assign({ fill: "url(#fs-hatch)" }, at)));
        });
      });
      for (var i = 0; i < tiles; ++i) {
        for (var j = 0; j < tiles; ++j) {
          add(svg, shape("rect", { x: edge(i * data.tile), y: edge(j * data.tile), width: CELL * data.tile,
            height: CELL * data.tile, "class": "fs-frame" }));
        }
      }
      var band = { y: edge(step.query_tile * data.tile), height: CELL * data.tile };
      add(svg, shape("rect", Object.assign({ x: EDGE, width: data.rows * CELL, "class": "fs-band" }, band)));
      if (step.key_tile !== null) {
        add(svg, shape("rect", Object.assign({ x: edge(step.key_tile * data.tile), width: CELL * data.tile,
          "class": "fs-now" }, band)));
      }
      empty(ui.picture);
      add(ui.picture, svg);
      ui.places.forEach(function (node, tile) {
        var here = tile === step.query_tile * tiles + step.key_tile && step.key_tile !== null;
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

    /** The steps' numbers as rows of the boxes. What a step does not hold is null. */
    function rowsOf(now, step) {
      var none = function (count) { return Array.apply(null, Array(count)).map(function () { return null; }); };
      var queries = [0, 1].map(function (row) { return step.query_tile * data.tile + row; });
      var keys = step.key_tile === null ? null : [0, 1].map(function (row) { return step.key_tile * data.tile + row; });
      var loaded = keys !== null && step.phase !== "skip";
      var per = function (matrix, width) {
        return queries.map(function (query, row) {
          return ["q" + query, matrix && matrix[row] ? matrix[row] : none(width)];
        });
      };
      var ofKeys = function (matrix) {
        return [0, 1].map(function (row) {
          return [loaded ? "k" + keys[row] : null, loaded ? matrix[keys[row]] : none(data.dim)];
        });
      };
      var column = function (values) {
        return values ? values.map(function (value) { return [value]; }) : null;
      };
      var stored = function (query) {
        var tile = Math.floor(query / data.tile);
        return tile < step.query_tile || (tile === step.query_tile && step.phase === "store");
      };
      return {
        keys: [0, 1].map(function (col) { return loaded ? "k" + keys[col] : null; }),
        Q: queries.map(function (query) { return ["q" + query, data.Q[query]]; }),
        K: ofKeys(data.K),
        V: ofKeys(data.V),
        S: per(step.S, data.tile),
        P: per(step.P, data.tile),
        rows: queries.map(function (query, row) {
          return ["q" + query, [step.m[row], step.m_new ? step.m_new[row] : null, step.factor ? step.factor[row] : null,
            step.l[row]]];
        }),
        O: per(step.O, data.dim),
        result: per(step.result, data.dim),
        lse: per(column(step.lse), 1),
        memory: now.O.map(function (row, query) {
          return ["q" + query, stored(query) ? row.concat([now.lse[query]]) : none(data.dim + 1)];
        })
      };
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
          "Queries " + pair(step.query_tile) + (step.key_tile === null ? "" : " · keys " + pair(step.key_tile)) + ": ",
          element("strong", {}, PHASES[step.phase])
        ]),
        paragraph(step.says[0]),
        element("div", { "class": "fs-queries" }, step.says.slice(1).map(function (sentence) {
          return element("div", {}, sentence.split("\n").map(paragraph));
        }))
      ];
    }

    /** Gives the sentences the height of the longest ones at this width, so that nothing below them moves. */
    function reserve() {
      var width = ui.says.clientWidth;
      if (width === 0 || width === ui.reserved) return;
      ui.reserved = width;
      var trial = element("div", { "class": "fs-trial", "aria-hidden": "true" }), told = {};
      data.settings.forEach(function (setting) {
        setting.steps.forEach(function (step) {
          var key = step.says.join();
          if (!told[key]) add(trial, element("div", { "class": "fs-says" }, inWords(step)));
          told[key] = true;
        });
      });
      add(ui.says.parentNode, trial);
      var height = Math.max.apply(null, Array.prototype.map.call(trial.childNodes, function (one) {
        return one.getBoundingClientRect().height;
      }));
      ui.says.parentNode.removeChild(trial);
      ui.says.style.minHeight = Math.ceil(height) + "px";
    }

    function show() {
      var now = setting(), steps = now.steps, step = steps[state.step];
      var rows = rowsOf(now, step), before = state.step > 0 ? rowsOf(now, steps[state.step - 1]) : null;
      var hidden = function (row, col) {
        return !now.sees[step.query_tile * data.tile + row][step.key_tile * data.tile + col];
      };
      // What another tile of queries or keys held here is no earlier value of these numbers.
      var newBlock = !before || steps[state.step - 1].query_tile !== step.query_tile;
      var newKeys = newBlock || steps[state.step - 1].key_tile !== step.key_tile;
      var old = function (name, fresh) {
        return rows[name].map(function (row, r) {
          return row[1].map(function (value, c) { return fresh || !before ? null : before[name][r][1][c]; });
        });
      };

      root.setAttribute("data-setting", now.name);
      root.setAttribute("data-step", String(state.step + 1));
      fill("Q", null, rows.Q, old("Q", newBlock));
      fill("K", null, rows.K, old("K", newKeys));
      fill("V", null, rows.V, old("V", newKeys));
      fill("S", rows.keys, rows.S, old("S", newKeys), hidden);
      fill("P", rows.keys, rows.P, old("P", newKeys), hidden);
      fill("rows", ["m", "m_new", "factor", "l"], rows.rows, old("rows", newBlock));
      fill("O", null, rows.O, old("O", newBlock));
      fill("result", null, rows.result, old("result", newBlock));
      fill("lse", null, rows.lse, old("lse", newBlock));
      fill("memory", ["O", "", "", "", "lse"], rows.memory, old("memory", !before));
      showMap(now, step);

      empty(ui.says);
      add(ui.says, inWords(step));

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
        node.setAttribute("aria-pressed", String(tile === step.query_tile));
      });
      ui.lines.forEach(function (node, line) {
        var on = ALGORITHM[line][2] === step.phase;
        node.classList.toggle("fs-on", on);
        if (on) node.setAttribute("aria-current", "step");
        else node.removeAttribute("aria-current");
        // The guard acts where no key has been seen yet.
        node.classList.toggle("fs-acts", on && step.m_new !== null && step.m_new.indexOf("-inf") >= 0);
      });
      ui.rescale.hidden = now.first_rescale === null;
      ui.mask.textContent = "Mask: " + MASKS[now.name];

      var turn = function (name, checked, disabled) {
        ui.switches[name].setAttribute("aria-checked", String(checked));
        ui.switches[name].setAttribute("aria-disabled", String(disabled));
      };
      turn("causal", state.causal || state.window, state.window);
      turn("window", state.window, false);
      turn("sinks", state.window && state.sinks, !state.window);
      var note = state.window
        ? "Causal is fixed: a window ends at the query's own key, so it hides all later keys by itself."
        : "Sinks need the window: without one, no query loses the first key.";
      if (ui.note.textContent !== note) ui.note.textContent = note;
    }

    // --- moving ------------------------------------------------------------------------------------------------

    /** The first step of a tile of queries, or of a tile of keys in it; with a phase, that one if it is there. */
    function stepOf(queryTile, keyTile, phase) {
      var steps = setting().steps, found = -1;
      for (var i = 0; i < steps.length; ++i) {
        if (steps[i].query_tile !== queryTile || (keyTile !== null && steps[i].key_tile !== keyTile)) continue;
        if (found < 0) found = i;
        if (phase && steps[i].phase === phase && steps[i].key_tile === keyTile) return i;
      }
      return found < 0 ? 0 : found;
    }

    function go(step) {
      state.step = Math.max(0, Math.min(step, setting().steps.length - 1));
      show();
      remember();
    }

    /** Changes a switch, and stays at the same place of the loop. */
    function flip(name) {
      var step = setting().steps[state.step];
      state[name] = !state[name];
      go(stepOf(step.query_tile, step.key_tile, step.phase));
    }

    function remember() {
      var parts = ["step=" + (state.step + 1)];
      if (state.causal) parts.push("causal=1");
      if (state.window) parts.push("window=1");
      if (state.window && state.sinks) parts.push("sinks=1");
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
      state.causal = values.causal === "1";
      state.window = values.window === "1";
      state.sinks = values.sinks === "1";
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
        r: function () { if (setting().first_rescale !== null) go(setting().first_rescale); },
        c: function () { if (!event.repeat) ui.switches.causal.click(); },
        w: function () { if (!event.repeat) ui.switches.window.click(); },
        s: function () { if (!event.repeat) ui.switches.sinks.click(); }
      }[event.key];
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

  function run() {
    var root = document.getElementById("flash-steps");
    if (!root) return;
    if (window.flashSteps) start(root, window.flashSteps);
    else root.textContent = "The steps are missing: steps_data.js has not been loaded.";
  }

  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", run);
  else run();
})();
