#include "simt/check/source_names.hpp"

#include <algorithm>
#include <cctype>

#include "simt/runtime/symbolize.hpp"

namespace simt::check {

std::vector<std::string> indexed_names(std::string_view line) {
  line = line.substr(0, line.find("//"));
  std::vector<std::string> names;
  for (std::size_t bracket = line.find('['); bracket != std::string_view::npos;
       bracket = line.find('[', bracket + 1)) {
    std::size_t end = bracket;
    while (end > 0 && line[end - 1] == ' ') --end;
    std::size_t begin = end;
    while (begin > 0 && is_name(line[begin - 1])) --begin;
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

}  // namespace simt::check
