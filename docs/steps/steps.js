// What docs/steps.md shows of the forward pass, in <div id="flash-steps">. steps_widget.js says what each part is for.
window.flashWidget("flash-steps", window.flashSteps, function (data) {
  "use strict";

  var TILES = data.rows / data.tile;

  function rowsIn(tile) {
    return [0, 1].map(function (row) { return tile * data.tile + row; });
  }

  function none(count) {
    return Array.apply(null, Array(count)).map(function () { return null; });
  }

  function stored(step, query) {
    var tile = Math.floor(query / data.tile);
    return tile < step.query_tile || (tile === step.query_tile && step.phase === "store");
  }

  /** The numbers of a step as rows of the boxes. What a step does not hold is null. */
  function rows(now, step) {
    var queries = rowsIn(step.query_tile), keys = loaded(step) ? rowsIn(step.key_tile) : null;
    var per = function (matrix, width) {
      return queries.map(function (query, row) { return ["q" + query, matrix && matrix[row] ? matrix[row] : none(width)]; });
    };
    var ofKeys = function (matrix) {
      return [0, 1].map(function (row) {
        return [keys ? "k" + keys[row] : null, keys ? matrix[keys[row]] : none(data.dim)];
      });
    };
    return {
      Q: per(queries.map(function (query) { return data.Q[query]; }), data.dim),
      K: ofKeys(now.K),
      V: ofKeys(now.V),
      S: per(step.S, data.tile),
      P: per(step.P, data.tile),
      rows: queries.map(function (query, row) {
        return ["q" + query, [step.m[row], step.m_new ? step.m_new[row] : null, step.factor ? step.factor[row] : null,
          step.l[row]]];
      }),
      O: per(step.O, data.dim),
      result: per(step.result, data.dim),
      lse: per(step.lse && step.lse.map(function (value) { return [value]; }), 1),
      memory: now.O.map(function (row, query) {
        return ["q" + query, stored(step, query) ? row.concat([now.lse[query]]) : none(data.dim + 1)];
      })
    };
  }

  function loaded(step) {
    return step.key_tile !== null && step.phase !== "skip";
  }

  return {
    label: "FlashAttention-2, forward, step by step",
    phases: {
      load: "load the queries", scores: "scores", maximum: "new maximum", rescale: "rescale l and O", weights: "weights",
      store: "divide and store", skip: "skipped"
    },
    algorithm: [
      [0, "for each tile of queries i (one block):", null],
      [1, "load Q_i;  m ← −∞;  l ← 0;  O ← 0", "load"],
      [1, "for each tile of keys j:", null],
      [2, "if no query of i sees a key of j: skip it", "skip"],
      [2, "load K_j, V_j;  S ← Q_i · K_jᵀ · scale;  hidden: −∞", "scores"],
      [2, "m_new ← max(m, max of the row of S)", "maximum"],
      [2, "f ← e^(m − m_new)  (0 if m_new = −∞);  l ← f · l;  O ← f · O", "rescale"],
      [2, "P ← e^(S − m_new)  (0 if m_new = −∞);  l ← l + Σ P;  O ← O + P · V_j;  m ← m_new", "weights"],
      [1, "store O / l  and  lse = m + log l", "store"]
    ],
    switches: [
      ["causal", "Causal", "c"],
      ["window", "Window of " + data.settings[2].window + " keys", "w"],
      ["sinks", data.settings[3].sinks + " sink token", "s"]
    ],
    slips: [
      ["output_not_rescaled", "O is not rescaled", { rescale: "f ← e^(m − m_new)  (0 if m_new = −∞);  l ← f · l" }],
      ["tail_not_hidden", "the last tile is not masked", { scores: "load K_j, V_j;  S ← Q_i · K_jᵀ · scale" }],
      ["base_2", "exp2 without log₂ e", {
        rescale: "f ← 2^(m − m_new)  (0 if m_new = −∞);  l ← f · l;  O ← f · O",
        weights: "P ← 2^(S − m_new)  (0 if m_new = −∞);  l ← l + Σ P;  O ← O + P · V_j;  m ← m_new"
      }]
    ],
    keys: [
      [["←"], "back"], [["→"], "next"], [["Home"], "first step"], [["End"], "last step"], [["r"], "first rescale"],
      [["c"], "causal"], [["w"], "window"], [["s"], "sinks"], [["q"], "questions"]
    ],
    choose: function (state) {
      if (state.window) return state.sinks ? "sinks" : "window";
      return state.causal ? "causal" : "all";
    },
    turned: function (state) {
      return {
        causal: [state.causal || state.window, state.window],
        window: [state.window, false],
        sinks: [state.window && state.sinks, !state.window]
      };
    },
    note: function (state) {
      return state.window
        ? "Causal is fixed: a window ends at the query's own key, so it hides all later keys by itself."
        : "Sinks need the window: without one, no query loses the first key.";
    },
    masks: {
      all: "none", causal: "causal", window: "window", sinks: "window and sinks", output_not_rescaled: "none; O is not rescaled",
      tail_not_hidden: "none; the last tile is not masked", base_2: "none; exp2 without log₂ e"
    },
    blocks_title: "Queries",
    blocks: none(TILES).map(function (unused, tile) {
      return [rowsIn(tile).join(", "), function (step) { return step.query_tile === tile; }, "queries " + rowsIn(tile).join(", ")];
    }),
    jump: function (setting) { return setting.first_rescale; },
    jump_label: "First rescale",
    jump_title: "The first step with a factor that is neither 0 nor 1",
    layout: [
      [["rows", "m, l", "and the factor"], ["O", "O", "not divided by l"]],
      [["S", "S", "scores"], ["P", "P", "weights"], ["lse", "lse"]],
      [["result", "O / l", "so far"], ["V", "V"]],
      [["Q", "Q"], ["K", "K"]]
    ],
    memory: ["memory", "O and lse"],
    keeping: ["rows", "O", "result"],
    masked: ["S", "P"],
    title: function (step, pair) {
      return "Queries " + pair(step.query_tile) + (step.key_tile === null ? "" : " · keys " + pair(step.key_tile));
    },
    columns: function (step) {
      var keys = [0, 1].map(function (col) { return loaded(step) ? "k" + rowsIn(step.key_tile)[col] : null; });
      return { S: keys, P: keys, rows: ["m", "m_new", "factor", "l"], memory: ["O", "", "", "", "lse"] };
    },
    rows: rows,
    fresh: function (step, before) {
      var block = step.query_tile !== before.query_tile, keys = block || step.key_tile !== before.key_tile;
      return { Q: block, K: keys, V: keys, S: keys, P: keys, rows: block, O: block, result: block, lse: block };
    },
    passed: function (step, row, col) {
      return row < step.query_tile || (row === step.query_tile && (step.phase === "store" || (step.key_tile !== null &&
        (col < step.key_tile || (col === step.key_tile && step.phase === "weights")))));
    },
    same: function (step, other) {
      return step.query_tile === other.query_tile && step.key_tile === other.key_tile;
    },
    at: function (step, row, col) { return step.query_tile === row && step.key_tile === col; }
  };
});
