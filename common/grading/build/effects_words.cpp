#include "grading/build/effects_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "grading/build/compiler_text.hpp"

namespace course::grading {

std::string_view first_word(std::string_view line) { return line.substr(0, line.find_first_of(" \t:;,(")); }

std::string shown(std::string_view name) {
  constexpr std::size_t kMostShown = 60;
  std::string text(name.substr(0, kMostShown));
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return text;
}

std::string_view defined_name(std::string_view word, std::string_view line) {
  if (line.substr(word.size()).starts_with(':')) return word;
  return word == ".set" || word == ".comm" ? first_word(trimmed(line.substr(word.size()))) : "";
}

bool has_texts(std::string_view directive) {
  static const std::set<std::string_view> all{".string", ".ascii", ".asciz",   ".base64",
                                              ".file",   ".ident", ".section", ".pushsection"};
  return all.contains(directive);
}

std::string_view own_name(std::string_view line) {
  constexpr std::string_view kBeginning = "simt_";
  for (std::size_t at = line.find(kBeginning); at != std::string_view::npos;
       at = line.find(kBeginning, at + 1)) {
    if (at > 0 && is_part_of_name(line[at - 1])) continue;
    const auto end =
        std::find_if_not(line.begin() + static_cast<std::ptrdiff_t>(at), line.end(), is_part_of_name);
    return line.substr(at, static_cast<std::size_t>(end - line.begin()) - at);
  }
  return {};
}

bool is_for_hooks(std::string_view name) {
  return name.starts_with("__tsan_") || name.starts_with("__sanitizer_") || name.starts_with("__ubsan_");
}

bool is_thunk(std::string_view name) {
  return name.starts_with("_ZTh") || name.starts_with("_ZTv") || name.starts_with("_ZTc");
}

std::string in_a_register(std::string_view variable) {
  return fmt::format(
      "Your file gives {} a register, or another name for the assembler. Leave out asm that is no part of "
      "CUDA.",
      variable);
}

std::string calls_the_simulator(std::string_view name) {
  return fmt::format("Your file calls {}, a function of the simulator's own. Call what CUDA has.",
                     shown(name));
}

}  // namespace course::grading
