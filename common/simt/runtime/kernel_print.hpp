#pragma once
/// @file
/// What kernels print. None of it goes through a stream of the process, whose buffer host code can read and
/// move.

namespace simt {

/// @brief Puts out what kernels have printed, behind what the host has, and leaves nothing of it in memory.
void put_out_prints();

}  // namespace simt
