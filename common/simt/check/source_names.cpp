#include "simt/check/source_names.hpp"

#include <algorithm>
#include <cctype>

#include "simt/runtime/symbolize.hpp"

namespace simt::check {
namespace {

/// Where `object.` or `object->` in front of the member at `member` begins; `member` if there is neither.
std::size_t path_begin(std::string_view line, std::size_t member) {
  std::size_t end = member;
  if (end > 0 && line[end - 1] == '.') {
    --end;
  } else if (line.substr(0, end).ends_with("->")) {
    end -= 2;
  }
  std::size_t begin = end;
  while (begin > 0 && is_name(line[begin - 1])) --begin;
  return begin == end || end == member ? member : begin;
}

}  // namespace

SourceTexts texts_of(const std::vector<SourceCall>& calls) {
  SourceTexts texts;
  for (const SourceCall& call : calls) texts.push_back(call.text);
  return texts;
}

std::vector<std::string> indexed_names(std::string_view line) {
  line = line.substr(0, line.find("//"));
  std::vector<std::string> names;
  for (std::size_t bracket = line.find('['); bracket != std::string_view::npos;
       bracket = line.find('[', bracket + 1)) {
    std::size_t end = bracket;
    while (end > 0 && line[end - 1] == ' ') --end;
    std::size_t begin = end;
    while (begin > 0 && is_name(line[begin - 1])) --begin;
    for (std::size_t object = path_begin(line, begin); object < begin; object = path_begin(line, begin))
      begin = object;
    const std::string name(line.substr(begin, end - begin));
    if (name.empty() || std::isdigit(static_cast<unsigned char>(name.front())) != 0) continue;
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

bool has_word(std::string_view text, std::string_view word) {
  for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || !is_name(text[at - 1])) && (end == text.size() || !is_name(text[end]))) return true;
  }
  return false;
}

bool mentions(std::string_view line, std::string_view name) {
  line = line.substr(0, line.find("//"));
  const std::size_t access = name.find_last_of(".>");
  if (access == std::string_view::npos) return has_word(line, name);
  const std::string_view member = name.substr(access + 1);
  for (std::size_t at = line.find_first_of(".>"); at != std::string_view::npos;
       at = line.find_first_of(".>", at + 1)) {
    const std::string_view rest = line.substr(at + 1);
    const bool arrow = line[at] == '.' || (at > 0 && line[at - 1] == '-');
    if (arrow && rest.starts_with(member) && (rest.size() == member.size() || !is_name(rest[member.size()])))
      return true;
  }
  return false;
}

}  // namespace simt::check
