#pragma once
/// @file
/// Which tiles of queries and keys meet, for kernels whose tiles of either are of any size, and what is
/// hidden in them: lesson 17's rules.
///
///     for (QueryTiles at(mask, first_key, 128, 64, head_kv, group); !at.done(); at.advance(64))
///       ...  // queries at.first to at.first + 63 of head at.head meet 128 keys

#include <cuda_runtime.h>

#include "device/key_mask.hpp"

namespace course::device {

/// A query and a key of one head.
struct QueryAndKey {
  int query, key;
};

/// Which keys a query sees, and which tiles meet: lesson 17's rules, for tiles of any size.
struct TileMask : KeyMask {
  /// Whether there is no such query or key, or the query does not see the key.
  __device__ bool hides(QueryAndKey at) const {
    const int back = at.query + offset() - at.key;
    return at.query >= Nq || at.key >= Nk || (causal && back < 0) || (back >= window && at.key >= sinks);
  }

  /// Whether a tile is full, and every query of it sees every key.
  __device__ bool hides_nothing(int first_query, int queries, int first_key, int keys) const {
    const int position = first_query + offset(), last_key = first_key + keys - 1;
    return first_query + queries <= Nq && last_key < Nk && (!causal || last_key <= position) &&
           (position + queries - 1 - first_key < window || last_key < sinks);
  }
};

/// The tiles of queries that go past a block's keys, from that of the first query that sees one of them to
/// the last such query, for one head of a group after the other.
struct QueryTiles {
  int head, end_head, begin, end, first;  ///< `first`: of the tile's queries

  __device__ QueryTiles(const TileMask& mask, int first_key, int keys, int step, int head_kv, int group)
      : head(head_kv * group), end_head(head + group), begin(0), end(mask.Nq) {
    const int last_key = min(first_key + keys, mask.Nk) - 1;
    if (mask.causal) begin = max(first_key - mask.offset(), 0) / step * step;
    if (first_key >= mask.sinks) end = min(last_key - mask.offset() + mask.window, mask.Nq);
    first = begin;
  }
  __device__ bool done() const { return begin >= end || head >= end_head; }
  __device__ void advance(int step) {
    first += step;
    if (first < end) return;
    first = begin;
    ++head;
  }
};

/// The tiles of keys that go past a block's queries: those of the sinks, then those of the windows.
struct KeyTiles {
  int head, sinks, begin, end, first;

  __device__ KeyTiles(const TileMask& mask, int first_query, int queries, int step, int head_kv)
      : head(head_kv), sinks(mask.sinks), end(mask.Nk) {
    begin = max(first_query + mask.offset() - mask.window + 1, 0) / step * step;
    if (mask.causal) end = min(first_query + queries, mask.Nq) + mask.offset();
    first = sinks > 0 ? 0 : begin;
  }
  __device__ bool done() const { return first >= end; }
  __device__ void advance(int step) {
    first += step;
    if (first >= sinks) first = max(first, begin);  // past the sinks; never back
  }
};

}  // namespace course::device
