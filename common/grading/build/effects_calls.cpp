#include "grading/build/effects.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "grading/build/compiler_text.hpp"
#include "grading/build/effects_words.hpp"

namespace course::grading {
namespace {

/// "_ZN1D1gEv" of the thunk "_ZThn8_N1D1gEv".
std::string function_of_thunk(std::string_view name) {
  name.remove_prefix(3);
  const auto drop_through = [&](int underscores) {
    for (; underscores > 0; --underscores) name.remove_prefix(std::min(name.find('_'), name.size() - 1) + 1);
  };
  const auto drop_offset = [&] { drop_through(name.starts_with('v') ? 2 : 1); };
  if (name.starts_with('c')) {
    name.remove_prefix(1);
    drop_offset();
  }
  drop_offset();
  return fmt::format("_Z{}", name.substr(0, name.find('.')));
}

/// Whether a macro of the simulator's, which has arguments, stands in a line of a header.
bool has_own_macro(std::string_view line) {
  constexpr std::string_view kBeginning = "SIMT_";
  for (std::size_t at = line.find(kBeginning); at != line.npos; at = line.find(kBeginning, at + 1))
    if (const auto end =
            std::find_if_not(line.begin() + static_cast<std::ptrdiff_t>(at), line.end(), is_part_of_name);
        end != line.end() && *end == '(')
      return true;
  return false;
}

/// "common/simt/shim/mma.h" of a line of an assembly's table of files, `.file 7 "common/simt/shim/mma.h"`.
std::string_view named_file(std::string_view line) {
  const std::string_view path = line.substr(std::min(line.find('"'), line.size() - 1) + 1);
  return path.substr(0, path.find('"'));
}

/// Where assembly stands in a header of the simulator's.
class PlaceInHeader {
 public:
  explicit PlaceInHeader(const OwnHeaders& headers) : headers_(headers) {}

  /// What a .file directive tells.
  void add_file(std::string_view number, std::string_view path) {
    if (const std::string* header = find_header(path, headers_))
      for_each_line(*header, [&lines = files_[number]](std::string_view line) {
        lines.push_back(line);
        return true;
      });
  }
  /// What a .loc directive tells.
  void go_to(std::string_view file, std::string_view line) {
    leave();
    const auto found = files_.find(file);
    if (found == files_.end()) return;
    std::from_chars(line.data(), line.data() + line.size(), number_);
    if (number_ > 0) lines_ = &found->second;
  }
  void leave() { lines_ = nullptr, number_ = 0; }

  /// Whether the header itself calls that function there. A call in several lines stands at one of them, and
  /// what a macro calls, where the macro stands.
  bool calls(std::string_view name) const {
    for (const std::size_t number : {number_ - 1, number_, number_ + 1})
      if (line(number).find(name) != std::string_view::npos) return true;
    return has_own_macro(line(number_));
  }

 private:
  std::string_view line(std::size_t number) const {
    const bool exists = lines_ != nullptr && number - 1 < lines_->size();
    return exists ? (*lines_)[number - 1] : std::string_view();
  }

  const OwnHeaders& headers_;
  std::map<std::string_view, std::vector<std::string_view>> files_;  // their lines, by their numbers
  const std::vector<std::string_view>* lines_ = nullptr;
  std::size_t number_ = 0;
};

}  // namespace

std::string calls_of_the_simulator(std::string_view assembly, const OwnHeaders& headers) {
  PlaceInHeader place(headers);
  std::string_view function;
  std::set<std::string_view> defined;
  // What a thunk has taken in of its function stands on no line of a header; that function is examined
  // itself.
  std::vector<std::pair<std::string_view, std::string_view>> in_thunks;
  std::string found;
  for_each_line(assembly, [&](std::string_view line) {
    line = trimmed(line);
    const std::string_view word = first_word(line);
    const std::string_view behind = trimmed(line.substr(word.size()));
    if (word == ".file") {
      place.add_file(first_word(behind), named_file(line));
    } else if (word == ".loc") {
      const std::string_view file = first_word(behind);
      place.go_to(file, first_word(trimmed(behind.substr(file.size()))));
    } else if (word == ".type") {  // a function begins
      place.leave();
      function = first_word(behind);
    } else if (word == "call" && is_thunk(function)) {
      if (const std::string_view name = own_name(line); !name.empty()) in_thunks.emplace_back(function, name);
    } else if (!has_texts(word)) {
      if (const std::string_view name = own_name(line);
          !name.empty() && !(word == "call" && place.calls(name)))
        found = calls_the_simulator(name);
    }
    if (const std::string_view name = defined_name(word, line); !name.empty()) defined.insert(name);
    return found.empty();
  });
  for (const auto& [thunk, name] : in_thunks)
    if (found.empty() && !defined.contains(function_of_thunk(thunk))) found = calls_the_simulator(name);
  return found;
}

}  // namespace course::grading
