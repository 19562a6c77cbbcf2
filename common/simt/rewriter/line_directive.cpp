#include "simt/rewriter/line_directive.hpp"

#include <algorithm>

#include "simt/rewriter/joined_lines.hpp"

namespace simt::rewriter {
namespace {

constexpr std::string_view kDigits = "0123456789";

/// Whether `line`, or a number and a file's name, comes next.
bool names_line(std::string_view text) {
  constexpr std::string_view kName = "line";
  if (text.starts_with(kName)) return text.size() == kName.size() || !is_part_of_name(text[kName.size()]);
  const std::size_t end = std::min(text.find_first_not_of(kDigits), text.size());
  const std::string_view behind = text.substr(past_blanks(text, end));
  return end > 0 && (behind.starts_with('"') || behind.starts_with("R\""));
}

}  // namespace

std::size_t find_line_directive(std::string_view source) {
  const JoinedLines joined(source);
  const std::string_view text = joined.text;
  for (const DirectivePlace& place : find_directives(text))
    if (names_line(text.substr(place.name))) return joined.places[place.sign];
  return std::string_view::npos;
}

}  // namespace simt::rewriter
