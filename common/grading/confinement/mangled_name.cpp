#include "grading/confinement/mangled_name.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

namespace course::grading {
namespace {

constexpr std::size_t kLongestSymbol = std::size_t{1} << 16;  // a name is up to ten times as long

using Pair = std::pair<std::string_view, std::string_view>;

constexpr std::array<Pair, 7> kAbbreviations = {{{"St", "std"},
                                                 {"Sa", "std::allocator"},
                                                 {"Sb", "std::basic_string"},
                                                 {"Ss", "std::basic_string"},
                                                 {"Si", "std::basic_istream"},
                                                 {"So", "std::basic_ostream"},
                                                 {"Sd", "std::basic_iostream"}}};

constexpr std::array<Pair, 18> kOperators = {{{"nw", "operator new"},
                                              {"na", "operator new[]"},
                                              {"dl", "operator delete"},
                                              {"da", "operator delete[]"},
                                              {"ls", "operator<<"},
                                              {"rs", "operator>>"},
                                              {"pl", "operator+"},
                                              {"pL", "operator+="},
                                              {"mi", "operator-"},
                                              {"aS", "operator="},
                                              {"eq", "operator=="},
                                              {"ne", "operator!="},
                                              {"lt", "operator<"},
                                              {"gt", "operator>"},
                                              {"ix", "operator[]"},
                                              {"cl", "operator()"},
                                              {"nt", "operator!"},
                                              {"de", "operator*"}}};

template <std::size_t kSize>
std::string_view find(const std::array<Pair, kSize>& table, std::string_view code) {
  const auto found =
      std::find_if(table.begin(), table.end(), [&](const Pair& pair) { return pair.first == code; });
  return found == table.end() ? std::string_view() : found->second;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Follows the Itanium C++ ABI's grammar as far as names need it; every step consumes at least one character.
class Reader {
 public:
  explicit Reader(std::string_view symbol) : rest_(symbol) {}

  std::string read() {
    if (!take("_Z")) return "";
    if (take("TI") || take("TS") || take("TV") || take("TT")) {
      read_type();
    } else {
      if (!take("GV") && take("T")) skip_thunk();
      while (take("Z")) continue;  // something within a function: has the function's name
      read_name();
    }
    return std::move(name_);
  }

 private:
  bool take(std::string_view prefix) {
    if (!rest_.starts_with(prefix)) return false;
    rest_.remove_prefix(prefix.size());
    return true;
  }
  bool take_any(std::string_view characters) {
    if (rest_.empty() || characters.find(rest_[0]) == std::string_view::npos) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void skip_number() {
    while (take_any("n0123456789")) continue;
  }

  /// Th16_ or Tv0_n24_, with offsets that may be negative.
  void skip_thunk() {
    const bool is_virtual = take("v");
    if (!is_virtual && !take("h")) return;
    for (int offset = 0; offset < (is_virtual ? 2 : 1); ++offset) {
      skip_number();
      take("_");
    }
  }

  void read_type() {
    while (take_any("PK")) continue;
    if (rest_.size() == 1 || rest_ == "Dn") {
      name_ = "built-in type";
    } else {
      read_name();
    }
  }

  void read_name() {
    if (!take("N")) {
      if (take_abbreviation() && name_ != "std") return;
      take("L");  // of internal linkage
      read_component();
      return;
    }
    while (take_any("rVKRO")) continue;
    while (!rest_.empty() && rest_[0] != 'E')
      if (!read_component()) return;
  }

  bool take_abbreviation() {
    const std::string_view name = find(kAbbreviations, rest_.substr(0, 2));
    if (name.empty()) return false;
    rest_.remove_prefix(2);
    append(name);
    return true;
  }

  /// False: what comes is no part of a name that can be told in words, and the name ends here.
  bool read_component() {
    if (rest_.empty()) return false;
    if (is_digit(rest_[0])) return read_identifier(true);
    if (rest_[0] == 'I') return skip_template_arguments();
    if (take("B")) return read_identifier(false);  // an ABI tag
    if (take("L")) return true;
    if (take("C") || take("D")) return take_any("0123456789");
    if (rest_[0] == 'S') return take_abbreviation();
    const std::string_view name = find(kOperators, rest_.substr(0, 2));
    if (name.empty()) return false;
    rest_.remove_prefix(2);
    append(name);
    return true;
  }

  /// 7configure: its length, then the name.
  bool read_identifier(bool keep) {
    std::size_t length = 0;
    while (!rest_.empty() && is_digit(rest_[0])) {
      length = 10 * length + static_cast<std::size_t>(rest_[0] - '0');
      rest_.remove_prefix(1);
      if (length > rest_.size()) return false;
    }
    const std::string_view identifier = rest_.substr(0, length);
    rest_.remove_prefix(length);
    const bool is_version = identifier == "__cxx11" || identifier == "_V2";
    if (keep && !is_version) append(identifier);
    return length > 0;
  }

  void append(std::string_view component) {
    if (!name_.empty()) name_ += "::";
    name_ += component;
  }

  /// From I to its E. What opens must close; identifiers are stepped over, whatever letters they have.
  bool skip_template_arguments() {
    int open = 0;
    while (!rest_.empty()) {
      if (is_digit(rest_[0])) {
        if (!read_identifier(false)) return false;
      } else if (take("E")) {
        if (--open == 0) return true;
      } else if (take("L_Z") || take_any("INFJX")) {
        ++open;
      } else if (take("L")) {
        if (!skip_literal()) return false;
      } else if (take_any("STA")) {
        skip_reference();
      } else {
        rest_.remove_prefix(1);
      }
    }
    return false;
  }

  /// St, S_, S12_, T_, T0_, A16_: a letter, or a number and an underscore.
  void skip_reference() {
    if (take_any("tabsiod")) return;
    while (take_any("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ")) continue;
    take("_");
  }

  /// i42E, or N4simt5OrderE1E: the type of a constant, then its value.
  bool skip_literal() {
    while (take_any("PKRO")) continue;
    if (rest_.starts_with("N")) {
      const std::size_t end = rest_.find('E');
      if (end == std::string_view::npos) return false;
      rest_.remove_prefix(end + 1);
    } else if (!rest_.empty() && is_digit(rest_[0])) {
      if (!read_identifier(false)) return false;
    } else if (take_any("ST")) {
      skip_reference();
    } else if (!rest_.empty()) {
      rest_.remove_prefix(1);
    }
    const std::size_t end = rest_.find('E');
    if (end == std::string_view::npos) return false;
    rest_.remove_prefix(end + 1);
    return true;
  }

  std::string_view rest_;
  std::string name_;
};

}  // namespace

std::string qualified_name(std::string_view symbol) {
  return symbol.size() > kLongestSymbol ? "" : Reader(symbol).read();
}

}  // namespace course::grading
