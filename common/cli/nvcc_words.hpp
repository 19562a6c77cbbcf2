#pragma once
/// @file
/// The command line of nvcc, as far as the command `simulate` takes it.

#include <string>
#include <vector>

namespace course::cli {

/// @brief Spells the words of a command line of `simulate` as its options are declared.
///
/// A source file after the first becomes "--also=FILE", and a word after the two dashes that end the options
/// "--argument=WORD". nvcc's options with one dash and a whole word get their second dash; those that change
/// nothing here become "--ignored=WORD". All other words stay as they are.
/// @param words  what comes after `simulate`
std::vector<std::string> spell_out_nvcc_words(const std::vector<std::string>& words);

/// @brief What `__CUDA_ARCH__` is for nvcc's sm_80, compute_90a or native; 0 if it names no architecture.
int architecture_number(const std::string& name);

}  // namespace course::cli
