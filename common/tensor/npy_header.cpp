#include "tensor/npy_header.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <stdexcept>
#include <utility>

#include "tensor/format.hpp"

namespace course::detail {
namespace {

/// Reads the few forms of Python that a header consists of: strings, True, False, tuples of integers.
class Parser {
 public:
  explicit Parser(std::string_view text) : rest_(text) {}

  bool accept(char wanted) {
    skip_space();
    if (rest_.empty() || rest_.front() != wanted) return false;
    rest_.remove_prefix(1);
    return true;
  }

  void expect(char wanted) {
    if (!accept(wanted)) fail(std::string("'") + wanted + "'");
  }

  void expect_end() {
    skip_space();
    if (!rest_.empty()) fail("the end of the header");
  }

  std::string string() {
    const char quote = accept('\'') ? '\'' : '"';
    if (quote == '"') expect('"');
    const std::size_t end = rest_.find(quote);
    if (end == std::string_view::npos) fail("a closing quote");
    std::string value(rest_.substr(0, end));
    rest_.remove_prefix(end + 1);
    return value;
  }

  bool boolean() {
    if (accept_word("True")) return true;
    if (!accept_word("False")) fail("True or False");
    return false;
  }

  Shape shape() {
    Shape shape;
    expect('(');
    while (!accept(')')) {
      shape.push_back(integer());
      if (accept(')')) break;
      expect(',');
    }
    return shape;
  }

  /// A type is a string, or a list of fields, which is read over: no structured type is supported.
  std::string descr() {
    if (!accept('[')) {
      const std::string code = string();
      if (code.empty() || code != printable(code)) fail("an element type");
      return code;
    }
    for (int depth = 1; depth > 0;) {
      if (rest_.empty()) fail("']'");
      const char next = rest_.front();
      if (next == '\'' || next == '"') {
        string();  // a field's name may hold brackets
        continue;
      }
      depth += (next == '[') - (next == ']');
      rest_.remove_prefix(1);
    }
    return "structured";
  }

 private:
  void skip_space() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\n"), rest_.size())); }

  bool accept_word(std::string_view word) {
    skip_space();
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }

  std::int64_t integer() {
    skip_space();
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error == std::errc::result_out_of_range) {
      throw std::invalid_argument("has an axis of 2^63 elements or more");
    }
    if (error != std::errc()) fail("a number");
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    accept('L');  // Python 2 wrote long integers so
    return value;
  }

  [[noreturn]] void fail(const std::string& wanted) const {
    const bool at_end = rest_.empty();
    throw std::invalid_argument(at_end ? "ends where " + wanted + " was expected"
                                       : "has \"" + printable(rest_.substr(0, 20)) + "\" where " + wanted +
                                             " was expected");
  }

  static std::string printable(std::string_view text) {
    std::string result(text);
    for (char& c : result) {
      if (c < ' ' || c > '~') c = '?';
    }
    return result;
  }

  std::string_view rest_;
};

}  // namespace

NpyHeader parse_npy_header(std::string_view text) {
  NpyHeader header;
  bool has_descr = false, has_order = false, has_shape = false;
  const auto first_time = [](bool& seen, const std::string& key) {
    if (std::exchange(seen, true)) throw std::invalid_argument("has the key '" + key + "' twice");
  };

  Parser parser(text);
  parser.expect('{');
  while (!parser.accept('}')) {
    const std::string key = parser.string();
    parser.expect(':');
    if (key == "descr") {
      first_time(has_descr, key);
      header.descr = parser.descr();
    } else if (key == "fortran_order") {
      first_time(has_order, key);
      header.fortran_order = parser.boolean();
    } else if (key == "shape") {
      first_time(has_shape, key);
      header.shape = parser.shape();
    } else {
      throw std::invalid_argument("has an unknown key");
    }
    if (parser.accept('}')) break;
    parser.expect(',');
  }
  parser.expect_end();
  if (!has_descr) throw std::invalid_argument("lacks the key 'descr'");
  if (!has_order) throw std::invalid_argument("lacks the key 'fortran_order'");
  if (!has_shape) throw std::invalid_argument("lacks the key 'shape'");
  for (const std::int64_t size : header.shape) {
    if (size < 0)
      throw std::invalid_argument("has the shape " + format_shape(header.shape) + ", with a negative axis");
  }
  return header;
}

std::string make_npy_preamble(std::string_view descr, const Shape& shape) {
  std::string text = "{'descr': '" + std::string(descr) + "', 'fortran_order': False, 'shape': (";
  for (const std::int64_t size : shape) text += std::to_string(size) + ", ";
  text += "), }";

  // NumPy pads with spaces and ends with a newline, so that the data start at a multiple of 64 bytes.
  const std::size_t fixed = kNpyVersionEnd + 2;
  const std::size_t total = (fixed + text.size() + 1 + 63) / 64 * 64;
  text.append(total - fixed - text.size() - 1, ' ');
  text += '\n';
  if (text.size() > 0xffff) {
    throw std::invalid_argument("an .npy file cannot hold " + std::to_string(shape.size()) + " axes");
  }
  std::string preamble(kNpyMagic);
  preamble += {'\x01', '\x00', static_cast<char>(text.size() & 0xff), static_cast<char>(text.size() >> 8)};
  return preamble + text;
}

std::string npy_dtype_name(std::string_view descr) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 14> kNames = {{
      {"f2", "float16"},
      {"f4", "float32"},
      {"f8", "float64"},
      {"i1", "int8"},
      {"i2", "int16"},
      {"i4", "int32"},
      {"i8", "int64"},
      {"u1", "uint8"},
      {"u2", "uint16"},
      {"u4", "uint32"},
      {"u8", "uint64"},
      {"b1", "bool"},
      {"c8", "complex64"},
      {"c16", "complex128"},
  }};
  const bool has_order =
      !descr.empty() && std::string_view("<>|=").find(descr.front()) != std::string_view::npos;
  const std::string_view code = has_order ? descr.substr(1) : descr;
  if (code.starts_with('O')) return "object";
  for (const auto& [known, name] : kNames) {
    if (code == known) return std::string(name);
  }
  return std::string(descr);
}

}  // namespace course::detail
