#include "grading/calls/printed_tail.hpp"

#include <algorithm>
#include <vector>

namespace course::grading {

void PrintedTail::append(std::string_view text) {
  if (text.size() > kBytes) {
    dropped_ += text.size() - kBytes;
    text.remove_prefix(text.size() - kBytes);
  }
  text_ += text;
  if (text_.size() > 2 * kBytes) {  // trimming by halves keeps the cost per byte constant
    dropped_ += text_.size() - kBytes;
    text_.erase(0, text_.size() - kBytes);
  }
}

void PrintedTail::clear() {
  text_.clear();
  dropped_ = 0;
}

std::string PrintedTail::lines() const {
  std::vector<std::string> all(1);
  for (const char c : text_) {
    if (c == '\n') {
      all.emplace_back();
    } else if (static_cast<unsigned char>(c) >= 0x20 && c != 0x7F && all.back().size() < kColumns) {
      all.back() += c;
    } else if (c == '\t') {
      all.back() += ' ';
    }
  }
  if (all.back().empty()) all.pop_back();
  const bool cut = dropped_ > 0 || all.size() > kLines;
  std::string result = cut ? "...\n" : "";
  for (std::size_t i = all.size() - std::min(all.size(), kLines); i < all.size(); ++i)
    result += all[i] + "\n";
  if (!result.empty()) result.pop_back();
  return result;
}

}  // namespace course::grading
