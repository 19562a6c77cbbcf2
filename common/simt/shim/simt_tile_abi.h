#pragma once
// What tiles of several warps ask of the runtime.

#include <cstdint>

extern "C" {

/// Waits until all threads of the caller's tile are here: those of `threads` consecutive ranks of the block.
void simt_tile_sync(unsigned threads);
/// Lays a value down for the other threads of the block, and gets that of the thread of a rank. Between the
/// two lies a simt_tile_sync(), and another one before the next value.
void simt_tile_put(std::uint64_t value);
std::uint64_t simt_tile_get(unsigned rank_in_block);

}  // extern "C"
