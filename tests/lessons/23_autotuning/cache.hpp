#pragma once
/// @file
/// Caches of lesson 23 as texts, and what is read from a text.

#include <string>

#include "23_autotuning/autotuning.hpp"
#include "tensor/random.hpp"
#include "tensor/tensor.hpp"

namespace course::lesson_23 {

/// These lines after the first line that fits them, whatever they say.
std::string cache_text(const std::string& lines);
std::string lines_of(const Cache& cache);

/// Of some devices and sizes. All of it is drawn.
Cache drawn_cache(Random& random);

/// As the entries take a text.
Tensor<char> buffer_of(const std::string& text);
std::string text_in(const Tensor<char>& buffer);

/// The text is a cache, which is written again as this.
void require_kept(const std::string& text, const std::string& as);

/// Neither a crash nor a wrong configuration: an empty cache, and a sentence.
void require_refused(const std::string& text);

}  // namespace course::lesson_23
