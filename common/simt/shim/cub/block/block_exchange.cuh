#pragma once
// cub::BlockExchange: between the blocked order of items, in which a thread has neighbours, and the striped
// one, in which neighbours belong to neighbouring threads.

#include "../../simt_cub.h"

namespace cub {

template <class T, int BLOCK_DIM_X, int ITEMS_PER_THREAD, bool = false, int BLOCK_DIM_Y = 1,
          int BLOCK_DIM_Z = 1, int = 0>
class BlockExchange {
  static constexpr int kThreads = BLOCK_DIM_X * BLOCK_DIM_Y * BLOCK_DIM_Z;

 public:
  struct TempStorage {
    Uninitialized<T> items[kThreads * ITEMS_PER_THREAD];
  };

  BlockExchange() : BlockExchange(simt::cub::private_storage<TempStorage>()) {}
  BlockExchange(TempStorage& temp_storage) : own_{temp_storage} {}

  template <class Out>
  void BlockedToStriped(const T (&input)[ITEMS_PER_THREAD], Out (&output)[ITEMS_PER_THREAD]) {
    for (int i = 0; i < ITEMS_PER_THREAD; ++i) own_.storage.items[blocked(i)].Alias() = input[i];
    __syncthreads();
    for (int i = 0; i < ITEMS_PER_THREAD; ++i) output[i] = own_.storage.items[striped(i)].Alias();
  }
  template <class Out>
  void StripedToBlocked(const T (&input)[ITEMS_PER_THREAD], Out (&output)[ITEMS_PER_THREAD]) {
    for (int i = 0; i < ITEMS_PER_THREAD; ++i) own_.storage.items[striped(i)].Alias() = input[i];
    __syncthreads();
    for (int i = 0; i < ITEMS_PER_THREAD; ++i) output[i] = own_.storage.items[blocked(i)].Alias();
  }
  void BlockedToStriped(T (&items)[ITEMS_PER_THREAD]) { BlockedToStriped(items, items); }
  void StripedToBlocked(T (&items)[ITEMS_PER_THREAD]) { StripedToBlocked(items, items); }

 private:
  int blocked(int item) const { return static_cast<int>(own_.thread) * ITEMS_PER_THREAD + item; }
  int striped(int item) const { return item * kThreads + static_cast<int>(own_.thread); }

  simt::cub::Primitive<TempStorage> own_;
};

}  // namespace cub
