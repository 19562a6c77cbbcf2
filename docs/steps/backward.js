// What docs/steps_backward.md shows of the backward pass, in <div id="flash-backward">. steps_widget.js says what each
// part is for.
window.flashWidget("flash-backward", window.flashBackward, function (data) {
  "use strict";

  var TILES = data.rows / data.tile;

  function rowsIn(tile) {
    return [0, 1].map(function (row) { return tile * data.tile + row; });
  }

  function none(count) {
    return Array.apply(null, Array(count)).map(function () { return null; });
  }

  function loaded(step) {
    return step.phase !== "skip";
  }

  /** Two rows of a matrix, or what is not there: letter is that of the rows' names. */
  function rowsOf(letter, tile, matrix) {
    return [0, 1].map(function (row) {
      if (tile === null) return [null, none(data.dim)];
      return [letter + rowsIn(tile)[row], matrix ? matrix[row] : none(data.dim)];
    });
  }

  function part(matrix, tile) {
    return tile === null ? null : rowsIn(tile).map(function (row) { return matrix[row]; });
  }

  /** Which blocks have stored their part when a step is done. */
  function stored(step, kernel, tile) {
    var order = ["delta", "keys", "queries"], own = kernel === "keys" ? step.key_tile : step.query_tile;
    if (step.kernel !== kernel) return order.indexOf(kernel) < order.indexOf(step.kernel);
    return tile < own || (tile === own && (step.phase === "store" || step.phase === "delta"));
  }

  function rows(now, step) {
    var queries = loaded(step) || step.kernel === "queries" ? step.query_tile : null;
    var keys = loaded(step) || step.kernel === "keys" ? step.key_tile : null;
    var attending = step.kernel !== "delta";
    var pairs = function (matrix) {
      return [0, 1].map(function (row) {
        return [queries === null ? null : "q" + rowsIn(queries)[row], matrix ? matrix[row] : none(data.tile)];
      });
    };
    var memory = function (name, kernel) {
      return now[name].map(function (row, index) {
        return stored(step, kernel, Math.floor(index / data.tile)) ? [].concat(row) : none(name === "delta" ? 1 : data.dim);
      });
    };
    var delta = memory("delta", "delta"), dQ = memory("dQ", "queries"), dK = memory("dK", "keys"), dV = memory("dV", "keys");
    return {
      rows: [0, 1].map(function (row) {
        return [queries === null ? null : "q" + rowsIn(queries)[row],
          [step.lse ? step.lse[row] : null, step.delta ? step.delta[row] : null]];
      }),
      S: pairs(step.S), P: pairs(step.P), dP: pairs(step.dP), dS: pairs(step.dS),
      dV: rowsOf("k", step.dV ? keys : null, step.dV),
      dK: rowsOf("k", step.dK ? keys : null, step.dK),
      dQ: rowsOf("q", step.dQ ? queries : null, step.dQ),
      Q: rowsOf("q", attending ? queries : null, part(data.Q, queries)),
      dO: rowsOf("q", queries, part(data.dO, queries)),
      O: rowsOf("q", attending ? null : queries, part(now.O, queries)),
      K: rowsOf("k", keys, part(data.K, keys)),
      V: rowsOf("k", keys, part(data.V, keys)),
      memory: delta.map(function (one, row) { return [String(row), one.concat(dQ[row], dK[row], dV[row])]; })
    };
  }

  var pairTitles = function (step) {
    return [0, 1].map(function (col) {
      return step.key_tile === null || !loaded(step) ? null : "k" + rowsIn(step.key_tile)[col];
    });
  };

  return {
    label: "FlashAttention-2, backward, step by step",
    phases: {
      delta: "delta", load: "load the block's own tile", weights: "scores and weights", gradients: "their gradients",
      dV: "into dV", dK: "into dK", dQ: "into dQ", store: "store", skip: "skipped"
    },
    algorithm: [
      [0, "for each tile of queries i (one block):", null],
      [1, "store delta = Σ dO_i ∘ O_i", "delta"],
      [0, "for each tile of keys j (one block):", null],
      [1, "load K_j, V_j;  dK ← 0;  dV ← 0", "load", "keys"],
      [1, "for each tile of queries i that sees j:", "skip", "keys"],
      [2, "S ← Q_i · K_jᵀ · scale;  P ← e^(S − lse)", "weights", "keys"],
      [2, "dP ← dO_i · V_jᵀ;  dS ← P ∘ (dP − delta)", "gradients", "keys"],
      [2, "dV ← dV + Pᵀ · dO_i", "dV"],
      [2, "dK ← dK + dSᵀ · Q_i", "dK"],
      [1, "store dV  and  dK · scale", "store", "keys"],
      [0, "for each tile of queries i (one block):", null],
      [1, "load Q_i, dO_i, lse, delta;  dQ ← 0", "load", "queries"],
      [1, "for each tile of keys j that i sees:", "skip", "queries"],
      [2, "S ← Q_i · K_jᵀ · scale;  P ← e^(S − lse)", "weights", "queries"],
      [2, "dP ← dO_i · V_jᵀ;  dS ← P ∘ (dP − delta)", "gradients", "queries"],
      [2, "dQ ← dQ + dS · K_j", "dQ"],
      [1, "store dQ · scale", "store", "queries"]
    ],
    switches: [["causal", "Causal", "c"]],
    slips: [],
    keys: [
      [["←"], "back"], [["→"], "next"], [["Home"], "first step"], [["End"], "last step"], [["c"], "causal"], [["q"], "questions"]
    ],
    choose: function (state) { return state.causal ? "causal" : "all"; },
    turned: function (state) { return { causal: [state.causal, false] }; },
    note: function () { return "Three kernels, one after the other: delta, then dK and dV, then dQ."; },
    masks: { all: "none", causal: "causal" },
    blocks_title: "Blocks",
    blocks: [["delta", function (step) { return step.kernel === "delta"; }, "delta of all queries"]].concat(
      none(TILES).map(function (unused, tile) {
        return ["dK, dV of " + rowsIn(tile).join(", "), function (step) {
          return step.kernel === "keys" && step.key_tile === tile;
        }, "dK and dV of keys " + rowsIn(tile).join(", ")];
      }), none(TILES).map(function (unused, tile) {
        return ["dQ of " + rowsIn(tile).join(", "), function (step) {
          return step.kernel === "queries" && step.query_tile === tile;
        }, "dQ of queries " + rowsIn(tile).join(", ")];
      })),
    jump: null,
    layout: [
      [["rows", "of a query"], ["S", "S", "scores"], ["P", "P", "weights"]],
      [["dP", "dP"], ["dS", "dS"]],
      [["dV", "dV", "so far"], ["dK", "dK", "so far"], ["dQ", "dQ", "so far"]],
      [["Q", "Q"], ["dO", "dO"], ["O", "O"]],
      [["K", "K"], ["V", "V"]]
    ],
    memory: ["memory", "delta, dQ, dK and dV"],
    keeping: ["dV", "dK", "dQ"],
    masked: ["S", "P", "dP", "dS"],
    title: function (step, pair) {
      var queries = step.query_tile === null ? "" : "queries " + pair(step.query_tile);
      var keys = step.key_tile === null ? "" : "keys " + pair(step.key_tile);
      var text = (step.kernel === "keys" ? [keys, queries] : [queries, keys]).filter(Boolean).join(" · ");
      return text.charAt(0).toUpperCase() + text.slice(1);
    },
    columns: function (step) {
      var keys = pairTitles(step);
      return { rows: ["lse", "delta"], S: keys, P: keys, dP: keys, dS: keys,
        memory: ["delta", "dQ", "", "dK", "", "dV", ""] };
    },
    rows: rows,
    fresh: function (step, before) {
      var kernel = step.kernel !== before.kernel;
      var queries = kernel || step.query_tile !== before.query_tile, keys = kernel || step.key_tile !== before.key_tile;
      var own = kernel || (step.kernel === "keys" ? keys : queries);
      return { rows: queries, S: queries || keys, P: queries || keys, dP: queries || keys, dS: queries || keys, dV: own,
        dK: own, dQ: own, Q: queries, dO: queries, O: queries, K: keys, V: keys };
    },
    passed: function (step, row, col) {
      if (step.kernel === "delta") return false;
      var mine = step.kernel === "keys" ? col : row, other = step.kernel === "keys" ? row : col;
      var own = step.kernel === "keys" ? step.key_tile : step.query_tile;
      var now = step.kernel === "keys" ? step.query_tile : step.key_tile;
      var last = step.kernel === "keys" ? "dK" : "dQ";
      return mine < own || (mine === own && (step.phase === "store" || (now !== null && (other < now ||
        (other === now && step.phase === last)))));
    },
    same: function (step, other) {
      return step.kernel === other.kernel && step.query_tile === other.query_tile && step.key_tile === other.key_tile;
    },
    at: function (step, row, col, now) {
      return step.kernel === (now.kernel === "queries" ? "queries" : "keys") && step.query_tile === row && step.key_tile === col;
    }
  };
});
