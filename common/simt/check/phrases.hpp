#pragma once
/// @file
/// Pieces of the sentences that reports are made of.

#include <array>
#include <string>

#include "simt/findings.hpp"

namespace simt::check {

/// "(3,0,0)"
std::string index_text(const std::array<unsigned, 3>& index);

/// "thread (3,0,0) of block (1,0,0)"
std::string who(const FindingSide& side);

/// "in load_tile() (tile_matmul.hpp:88)", for a side that lies in a helper; else empty.
std::string helper_text(const FindingSide& side);

/// What a sentence on a side begins with: who(), behind the helper in which it is.
std::string subject(const FindingSide& side);

/// "kernel.cu:12", the side's own line; of a helper: "kernel.cu:12, in load_tile() (tile_matmul.hpp:88)".
std::string place_text(const FindingSide& side);

/// "at kernel.cu:12", or "in the same line" as `here`; of a helper: "in load_tile() (tile_matmul.hpp:88),
/// called at kernel.cu:12".
std::string place_beside(const FindingSide& side, const FindingSide& here);

}  // namespace simt::check
