#include "grading/build/merged_blocks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "grading/build/compiler_text.hpp"

namespace course::grading {
namespace {

constexpr std::string_view kBlockHook = "call\t__sanitizer_cov_trace_pc";

/// Whether it calls the hook of one plain access: of an address, and no more.
bool is_access_hook(std::string_view code) {
  constexpr std::string_view kByLinker = "@PLT";
  for (const std::string_view hook : {"call\t__tsan_read", "call\t__tsan_write"}) {
    if (!code.starts_with(hook)) continue;
    std::string_view bytes = code.substr(hook.size());
    if (bytes.ends_with(kByLinker)) bytes.remove_suffix(kByLinker.size());
    for (const std::string_view power : {"1", "2", "4", "8", "16"})
      if (bytes == power) return true;
  }
  return false;
}

/// "L12" of a line ".L12:", or of an instruction "jne .L12"; empty if it is neither.
std::string_view place_in(std::string_view text) {
  if (!text.starts_with(".L") || text.size() < 3 || std::isdigit(static_cast<unsigned char>(text[2])) == 0)
    return {};
  const std::size_t end = text.find_first_not_of("0123456789", 2);
  return text.substr(1, (end == std::string_view::npos ? text.size() : end) - 1);
}
std::string_view label_of(std::string_view code) {
  return code.ends_with(':') ? place_in(code) : std::string_view();
}
std::string_view jumps_to(std::string_view code) {
  const std::size_t gap = code.find('\t');
  return code.starts_with('j') && gap != std::string_view::npos ? place_in(code.substr(gap + 1))
                                                                : std::string_view();
}

/// A function that the linker keeps once, however many files have it, is in a group: "_Z1fv" of
/// `.section .text._Z1fv,"axG",@progbits,_Z1fv,comdat`; "" for what is in none.
std::string_view group_of(std::string_view section) {
  constexpr std::string_view kContents = "@progbits,", kOnce = ",comdat";
  const std::size_t begin = section.find(kContents);
  if (begin == std::string_view::npos || !section.ends_with(kOnce)) return {};
  section.remove_suffix(kOnce.size());
  return section.substr(begin + kContents.size());
}

/// The lines of an assembly, and what is asked of them.
class Lines {
 public:
  explicit Lines(std::string_view assembly) {
    for_each_line(assembly, [&](std::string_view line) {
      whole_.push_back(line);
      code_.push_back(trimmed(line));
      if (const std::string_view place = jumps_to(code_.back()); !place.empty()) ++jumps_[place];
      return true;
    });
  }

  std::size_t count() const { return whole_.size(); }
  std::string_view whole(std::size_t line) const { return whole_[line]; }
  std::string_view code(std::size_t line) const { return code_[line]; }

  /// The access before which nothing happens in the block that begins at `line`.
  std::optional<std::size_t> first_access(std::size_t line) const {
    while (++line < count()) {
      const std::string_view code = code_[line];
      if (is_access_hook(code)) return line;
      if (code.starts_with('j')) {
        const std::optional<std::size_t> past = past_check(line);
        if (!past) return std::nullopt;
        line = *past;
      } else if (goes_elsewhere(code)) {
        return std::nullopt;
      }
    }
    return std::nullopt;
  }

 private:
  /// Whether code may not be gone through in a row here, or something else is told of. Labels of debug
  /// information have letters.
  static bool goes_elsewhere(std::string_view code) {
    if (code.starts_with("call") || code.starts_with("ret") || code.starts_with("ud2")) return true;
    if (code.starts_with(".section") || code.starts_with(".text") || code.starts_with(".cfi_endproc"))
      return true;
    return code.ends_with(':') && (!code.starts_with(".L") || !label_of(code).empty());
  }

  /// Of a jump past a call that reports a wrong index or address: the line with its target, where both ways
  /// meet and nothing else arrives.
  std::optional<std::size_t> past_check(std::size_t line) const {
    const std::string_view target = jumps_to(code_[line]);
    if (target.empty() || code_[line].starts_with("jmp") || jumps_.at(target) != 1) return std::nullopt;
    bool reports = false;
    while (++line < count()) {
      const std::string_view code = code_[line];
      if (label_of(code) == target) return reports ? std::optional(line) : std::nullopt;
      if (code.starts_with("call\t__ubsan_handle_"))
        reports = true;
      else if (code.starts_with('j') || goes_elsewhere(code))
        return std::nullopt;
    }
    return std::nullopt;
  }

  std::vector<std::string_view> whole_, code_;
  std::unordered_map<std::string_view, int> jumps_;  ///< to each place
};

/// A note of "SIMT", kind 1: pairs of distances from where they stand, to a block and to the access that
/// begins it, or 0. In the group of the code that it speaks of.
std::string note_of(std::string_view group, const std::vector<std::string>& pairs) {
  const std::string place = group.empty() ? "\"a\",@note" : fmt::format("\"aG\",@note,{},comdat", group);
  std::string text = fmt::format(
      "\t.section\t.note.simt,{}\n\t.balign\t4\n\t.long\t5, {}, 1\n\t.string\t\"SIMT\"\n"
      "\t.balign\t4\n",
      place, 8 * pairs.size());
  for (const std::string& pair : pairs) text += pair;
  return text;
}

}  // namespace

std::string with_merged_blocks(std::string_view assembly) {
  const Lines lines(assembly);
  std::string text;
  text.reserve(assembly.size() + assembly.size() / 16);
  std::map<std::string_view, std::vector<std::string>> notes;  // by group
  std::unordered_map<std::size_t, std::size_t> begun;          // by an access's line: the number of its block
  std::string_view group;
  std::size_t blocks = 0;
  for (std::size_t line = 0; line < lines.count(); ++line) {
    const std::string_view code = lines.code(line);
    if (code.starts_with(".section") || code.starts_with(".text")) group = group_of(code);
    if (!code.starts_with(kBlockHook)) {
      text.append(lines.whole(line)).append("\n");
      if (const auto block = begun.find(line); block != begun.end())
        text += fmt::format(".Lsimt_access{}:\n", block->second);
      continue;
    }
    const std::size_t number = blocks++;
    if (const std::optional<std::size_t> access = lines.first_access(line)) {
      begun[*access] = number;
      text += fmt::format(".Lsimt_block{}:\n\tnop\n", number);  // something must have the block's line
      notes[group].push_back(
          fmt::format("\t.long\t.Lsimt_block{0} - .\n\t.long\t.Lsimt_access{0} - 1 - .\n", number));
    } else {
      text.append(lines.whole(line)).append("\n");
      text += fmt::format(".Lsimt_block{}:\n", number);
      notes[group].push_back(fmt::format("\t.long\t.Lsimt_block{} - 1 - .\n\t.long\t0\n", number));
    }
  }
  for (const auto& [of, pairs] : notes) text += note_of(of, pairs);
  return text;
}

}  // namespace course::grading
