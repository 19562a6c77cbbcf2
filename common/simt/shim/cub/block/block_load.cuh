#pragma once
// cub::BlockLoad: items of an array, several for each thread of a block.

#include "block_exchange.cuh"

namespace cub {

/// Items past the `valid`-th stay as they are.
template <class T, int ITEMS, class Iterator>
void LoadDirectBlocked(int thread, Iterator from, T (&items)[ITEMS], int valid) {
  for (int i = 0; i < ITEMS; ++i)
    if (thread * ITEMS + i < valid) items[i] = from[thread * ITEMS + i];
}
template <class T, int ITEMS, class Iterator>
void LoadDirectBlocked(int thread, Iterator from, T (&items)[ITEMS]) {
  for (int i = 0; i < ITEMS; ++i) items[i] = from[thread * ITEMS + i];
}
template <int THREADS, class T, int ITEMS, class Iterator>
void LoadDirectStriped(int thread, Iterator from, T (&items)[ITEMS], int valid) {
  for (int i = 0; i < ITEMS; ++i)
    if (i * THREADS + thread < valid) items[i] = from[i * THREADS + thread];
}
template <int THREADS, class T, int ITEMS, class Iterator>
void LoadDirectStriped(int thread, Iterator from, T (&items)[ITEMS]) {
  for (int i = 0; i < ITEMS; ++i) items[i] = from[i * THREADS + thread];
}

/// The transposing ones are all done as BLOCK_LOAD_TRANSPOSE is, and BLOCK_LOAD_VECTORIZE as
/// BLOCK_LOAD_DIRECT.
enum BlockLoadAlgorithm {
  BLOCK_LOAD_DIRECT,
  BLOCK_LOAD_STRIPED,
  BLOCK_LOAD_VECTORIZE,
  BLOCK_LOAD_TRANSPOSE,
  BLOCK_LOAD_WARP_TRANSPOSE,
  BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED,
};

template <class T, int BLOCK_DIM_X, int ITEMS_PER_THREAD, BlockLoadAlgorithm ALGORITHM = BLOCK_LOAD_DIRECT,
          int BLOCK_DIM_Y = 1, int BLOCK_DIM_Z = 1, int = 0>
class BlockLoad {
  static constexpr int kThreads = BLOCK_DIM_X * BLOCK_DIM_Y * BLOCK_DIM_Z;
  static constexpr bool kTransposes = ALGORITHM >= BLOCK_LOAD_TRANSPOSE;
  using Exchange = BlockExchange<T, BLOCK_DIM_X, ITEMS_PER_THREAD, false, BLOCK_DIM_Y, BLOCK_DIM_Z>;
  struct Nothing {
    struct TempStorage {};
  };

 public:
  struct TempStorage : std::conditional_t<kTransposes, Exchange, Nothing>::TempStorage {};

  BlockLoad() : BlockLoad(simt::cub::private_storage<TempStorage>()) {}
  BlockLoad(TempStorage& temp_storage) : own_{temp_storage} {}

  template <class Iterator>
  void Load(Iterator from, T (&items)[ITEMS_PER_THREAD]) {
    if constexpr (kTransposes || ALGORITHM == BLOCK_LOAD_STRIPED)
      LoadDirectStriped<kThreads>(thread(), from, items);
    else
      LoadDirectBlocked(thread(), from, items);
    put_in_order(items);
  }
  template <class Iterator>
  void Load(Iterator from, T (&items)[ITEMS_PER_THREAD], int valid_items) {
    if constexpr (kTransposes || ALGORITHM == BLOCK_LOAD_STRIPED)
      LoadDirectStriped<kThreads>(thread(), from, items, valid_items);
    else
      LoadDirectBlocked(thread(), from, items, valid_items);
    put_in_order(items);
  }
  template <class Iterator, class Default>
  void Load(Iterator from, T (&items)[ITEMS_PER_THREAD], int valid_items, Default otherwise) {
    for (T& item : items) item = otherwise;
    Load(from, items, valid_items);
  }

 private:
  int thread() const { return static_cast<int>(own_.thread); }
  void put_in_order(T (&items)[ITEMS_PER_THREAD]) {
    if constexpr (kTransposes) Exchange(own_.storage).StripedToBlocked(items);
  }

  simt::cub::Primitive<TempStorage> own_;
};

}  // namespace cub
