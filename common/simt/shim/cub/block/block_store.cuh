#pragma once
// cub::BlockStore: the items of all threads of a block into an array.

#include "block_exchange.cuh"

namespace cub {

template <class T, int ITEMS, class Iterator>
void StoreDirectBlocked(int thread, Iterator to, T (&items)[ITEMS], int valid) {
  for (int i = 0; i < ITEMS; ++i)
    if (thread * ITEMS + i < valid) to[thread * ITEMS + i] = items[i];
}
template <class T, int ITEMS, class Iterator>
void StoreDirectBlocked(int thread, Iterator to, T (&items)[ITEMS]) {
  StoreDirectBlocked(thread, to, items, (thread + 1) * ITEMS);
}
template <int THREADS, class T, int ITEMS, class Iterator>
void StoreDirectStriped(int thread, Iterator to, T (&items)[ITEMS], int valid) {
  for (int i = 0; i < ITEMS; ++i)
    if (i * THREADS + thread < valid) to[i * THREADS + thread] = items[i];
}
template <int THREADS, class T, int ITEMS, class Iterator>
void StoreDirectStriped(int thread, Iterator to, T (&items)[ITEMS]) {
  StoreDirectStriped<THREADS>(thread, to, items, THREADS * ITEMS);
}

/// As for cub::BlockLoad.
enum BlockStoreAlgorithm {
  BLOCK_STORE_DIRECT,
  BLOCK_STORE_STRIPED,
  BLOCK_STORE_VECTORIZE,
  BLOCK_STORE_TRANSPOSE,
  BLOCK_STORE_WARP_TRANSPOSE,
  BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED,
};

template <class T, int BLOCK_DIM_X, int ITEMS_PER_THREAD, BlockStoreAlgorithm ALGORITHM = BLOCK_STORE_DIRECT,
          int BLOCK_DIM_Y = 1, int BLOCK_DIM_Z = 1, int = 0>
class BlockStore {
  static constexpr int kThreads = BLOCK_DIM_X * BLOCK_DIM_Y * BLOCK_DIM_Z;
  static constexpr bool kTransposes = ALGORITHM >= BLOCK_STORE_TRANSPOSE;
  using Exchange = BlockExchange<T, BLOCK_DIM_X, ITEMS_PER_THREAD, false, BLOCK_DIM_Y, BLOCK_DIM_Z>;
  struct Nothing {
    struct TempStorage {};
  };

 public:
  struct TempStorage : std::conditional_t<kTransposes, Exchange, Nothing>::TempStorage {};

  BlockStore() : BlockStore(simt::cub::private_storage<TempStorage>()) {}
  BlockStore(TempStorage& temp_storage) : own_{temp_storage} {}

  template <class Iterator>
  void Store(Iterator to, T (&items)[ITEMS_PER_THREAD]) {
    Store(to, items, kThreads * ITEMS_PER_THREAD);
  }
  template <class Iterator>
  void Store(Iterator to, T (&items)[ITEMS_PER_THREAD], int valid_items) {
    const auto thread = static_cast<int>(own_.thread);
    if constexpr (kTransposes) Exchange(own_.storage).BlockedToStriped(items);
    if constexpr (kTransposes || ALGORITHM == BLOCK_STORE_STRIPED)
      StoreDirectStriped<kThreads>(thread, to, items, valid_items);
    else
      StoreDirectBlocked(thread, to, items, valid_items);
  }

 private:
  simt::cub::Primitive<TempStorage> own_;
};

}  // namespace cub
