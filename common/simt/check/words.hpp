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

/// "kernel.cu:12"
std::string place_text(const FindingSide& side);

/// "at kernel.cu:12", or "in the same line" as `here`.
std::string place_beside(const FindingSide& side, const FindingSide& here);

}  // namespace simt::check
