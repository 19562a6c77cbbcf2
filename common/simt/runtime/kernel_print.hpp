#pragma once
/// @file
/// What kernels print. None of it goes through a stream of the process, whose buffer host code can read and
/// move.

#include <cstddef>
#include <cstdint>
#include <limits>

namespace simt {

inline constexpr std::size_t kWholeText = std::numeric_limits<std::size_t>::max();

/// @brief Tells check mode of a text that is about to be read, byte by byte: only reading shows where it
/// ends.
void note_text(const char* text, std::size_t most, std::uintptr_t caller);

/// @brief Puts out what kernels have printed, behind what the host has, and leaves nothing of it in memory.
void put_out_prints();

}  // namespace simt
