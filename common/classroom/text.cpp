#include "classroom/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "grading/base/messages.hpp"
#include "grading/build/kernel_cache.hpp"

namespace course::classroom {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";  // U+FFFD
constexpr std::size_t kMaxFolderBytes = 100;
constexpr std::size_t kHashDigits = 16;

unsigned char byte_of(char c) { return static_cast<unsigned char>(c); }

std::size_t length_by_lead(unsigned char lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xc2 && lead <= 0xdf) return 2;
  if (lead >= 0xe0 && lead <= 0xef) return 3;
  if (lead >= 0xf0 && lead <= 0xf4) return 4;
  return 0;
}

/// Whether `second` may follow `lead`: no overlong forms, no surrogates, nothing above U+10FFFF.
bool may_follow(unsigned char lead, unsigned char second) {
  const unsigned char low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
  const unsigned char high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
  return second >= low && second <= high;
}

bool is_ascii_control(char32_t c) { return c < 0x20 || c == 0x7f; }

/// Moves a cursor, ends a line or turns the direction of writing around, so that a reader sees another text.
bool is_control(char32_t c) {
  return is_ascii_control(c) || (c >= 0x80 && c < 0xa0) || c == 0x061c || c == 0x200e || c == 0x200f ||
         (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) || c == 0xfeff;
}

bool is_xml_character(char32_t c) {
  return c == '\t' || c == '\n' || c == '\r' || (c >= 0x20 && c != 0xfffe && c != 0xffff);
}

/// `write` appends what stands for a unit.
template <class Write>
std::string rewritten(std::string_view text, const Write& write) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const Utf8Unit unit = first_unit(text);
    write(result, unit);
    text.remove_prefix(unit.bytes.size());
  }
  return result;
}

void append_percent(std::string& result, std::string_view bytes) {
  for (const char c : bytes) result += fmt::format("%{:02X}", byte_of(c));
}

void append_visible(std::string& result, const Utf8Unit& unit) {
  if (!unit.valid) {
    for (const char c : unit.bytes) result += fmt::format("\\x{:02x}", byte_of(c));
  } else if (unit.code_point == '\n') {
    result += "\\n";
  } else if (unit.code_point == '\t') {
    result += "\\t";
  } else if (is_ascii_control(unit.code_point)) {
    result += fmt::format("\\x{:02x}", byte_of(unit.bytes[0]));
  } else if (is_control(unit.code_point)) {
    result += fmt::format("\\u{{{:x}}}", static_cast<std::uint32_t>(unit.code_point));
  } else {
    result += unit.bytes;
  }
}

const char* markup_entity(char32_t c) {
  switch (c) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '"':
      return "&quot;";
    case '\'':
      return "&#39;";
    default:
      return nullptr;
  }
}

/// Characters that a path, a link's text or another file system would take for something else. % and ~ begin
/// what this file adds itself.
bool is_unfit_for_folder(const Utf8Unit& unit) {
  constexpr std::string_view kUnfit = "/\\:*?\"<>|%~";
  return !unit.valid || is_control(unit.code_point) ||
         (unit.bytes.size() == 1 && kUnfit.find(unit.bytes[0]) != std::string_view::npos);
}

/// Names that the results have for themselves, or may come to have.
bool may_be_a_result(std::string_view name) {
  constexpr std::array kEndings = {".csv", ".html", ".json", ".md",  ".xml",  ".txt",  ".css",
                                   ".js",  ".log",  ".lock", ".tmp", ".part", ".jsonl"};
  const std::string lower = grading::ascii_lower(name);
  return lower == "similarity" || std::any_of(kEndings.begin(), kEndings.end(),
                                              [&](const char* ending) { return lower.ends_with(ending); });
}

}  // namespace

bool is_digit(char c) { return '0' <= c && c <= '9'; }

bool is_alphanumeric(char c) { return is_digit(c) || ('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z'); }

Utf8Unit first_unit(std::string_view text) {
  const unsigned char lead = byte_of(text[0]);
  const std::size_t length = length_by_lead(lead);
  if (length == 1) return {lead, text.substr(0, 1), true};
  char32_t code_point = lead & (0xffu >> (length + 1));
  std::size_t taken = 1;
  for (; taken < length && taken < text.size(); ++taken) {
    const unsigned char next = byte_of(text[taken]);
    if ((next & 0xc0) != 0x80 || (taken == 1 && !may_follow(lead, next))) break;
    code_point = code_point << 6 | (next & 0x3fu);
  }
  if (length == 0 || taken < length) return {0xfffd, text.substr(0, length == 0 ? 1 : taken), false};
  return {code_point, text.substr(0, length), true};
}

std::string to_utf8(char32_t code_point) {
  const auto tail = [&](int shift) { return static_cast<char>(0x80 | ((code_point >> shift) & 0x3f)); };
  if (code_point < 0x80) return {static_cast<char>(code_point)};
  if (code_point < 0x800) return {static_cast<char>(0xc0 | code_point >> 6), tail(0)};
  if (code_point < 0x10000) return {static_cast<char>(0xe0 | code_point >> 12), tail(6), tail(0)};
  return {static_cast<char>(0xf0 | code_point >> 18), tail(12), tail(6), tail(0)};
}

std::string valid_utf8(std::string_view text) {
  return rewritten(text, [](std::string& result, const Utf8Unit& unit) {
    result += unit.valid ? unit.bytes : kReplacement;
  });
}

std::string html_escape(std::string_view text) {
  return rewritten(text, [](std::string& result, const Utf8Unit& unit) {
    const char32_t c = unit.code_point;
    const bool forbidden = (is_ascii_control(c) && c != '\n' && c != '\t') || (c >= 0x80 && c < 0xa0);
    if (const char* entity = markup_entity(c))
      result += entity;
    else
      result += unit.valid && !forbidden ? unit.bytes : kReplacement;
  });
}

std::string xml_escape(std::string_view text) {
  return rewritten(text, [](std::string& result, const Utf8Unit& unit) {
    if (const char* entity = markup_entity(unit.code_point))
      result += entity;
    else if (unit.code_point == '\r')
      result += "&#13;";  // a parser would make it a line feed
    else
      result += unit.valid && is_xml_character(unit.code_point) ? unit.bytes : kReplacement;
  });
}

std::string one_line(std::string_view text) { return rewritten(text, append_visible); }

std::string printable_lines(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    if (text.starts_with("\r\n")) text.remove_prefix(1);
    const Utf8Unit unit = first_unit(text);
    if (unit.code_point == '\n' || unit.code_point == '\t')
      result += unit.bytes;
    else
      append_visible(result, unit);
    text.remove_prefix(unit.bytes.size());
  }
  return result;
}

std::string cut_text(std::string_view text, std::size_t limit) {
  std::size_t characters = 0, kept = 0;
  while (characters < limit && kept < text.size()) {
    kept += first_unit(text.substr(kept)).bytes.size();
    ++characters;
  }
  if (kept == text.size()) return std::string(text);
  const std::size_t line_end = text.rfind('\n', kept - 1);
  if (line_end != std::string_view::npos && kept - line_end <= limit / 4) kept = line_end;
  std::size_t left_out = 0;
  for (std::size_t at = kept; at < text.size(); ++left_out) at += first_unit(text.substr(at)).bytes.size();
  return fmt::format("{}\n[This message is cut here: {} more characters are not shown.]",
                     text.substr(0, kept), left_out);
}

std::string percent_encoded(std::string_view text) {
  std::string result;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (letter || std::string_view("-._~").find(c) != std::string_view::npos)
      result += c;
    else
      append_percent(result, text.substr(at, 1));
  }
  return result;
}

std::string safe_folder_name(std::string_view name) {
  if (name.empty()) return "%unnamed";  // no other name gives it: a % comes before two digits
  std::string folder;
  std::size_t cut = 0;  // where it may end, neither within a character nor within a %XX
  for (std::string_view rest = name; !rest.empty();) {
    const Utf8Unit unit = first_unit(rest);
    rest.remove_prefix(unit.bytes.size());
    const char c = unit.bytes[0];
    const bool first = folder.empty(), last = rest.empty();
    const bool bad_begin = first && (c == '.' || c == '-' || c == ' ' || may_be_a_result(name));
    const bool bad_end = last && (c == '.' || c == ' ');  // some file systems drop it
    if (bad_begin || bad_end || is_unfit_for_folder(unit))
      append_percent(folder, unit.bytes);
    else
      folder += unit.bytes;
    if (folder.size() + 1 + kHashDigits <= kMaxFolderBytes) cut = folder.size();
  }
  if (folder.size() <= kMaxFolderBytes) return folder;
  const std::string hash = grading::ContentHash().add(name).hex().substr(0, kHashDigits);
  return folder.substr(0, cut) + "~" + hash;
}

}  // namespace course::classroom
