#include "simt/report/text_layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <sstream>

namespace simt::report {
namespace {

constexpr std::size_t kTab = 4;

std::vector<std::string> read_lines(const std::filesystem::path& file) {
  std::vector<std::string> lines;
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);) {
    std::string plain;
    for (const char c : line) {
      if (c == '\t') {
        plain.append(kTab - plain.size() % kTab, ' ');
      } else if (c != '\r') {
        plain += c;
      }
    }
    plain.erase(plain.find_last_not_of(' ') + 1);
    lines.push_back(std::move(plain));
  }
  return lines;
}

}  // namespace

std::size_t columns_of(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

std::string fit(std::string_view text, std::size_t columns) {
  constexpr std::string_view kCut = "...";
  if (columns_of(text) <= columns) return std::string(text);
  const std::size_t room = columns - std::min(columns, kCut.size());
  std::size_t bytes = 0, used = 0;
  for (; bytes < text.size(); ++bytes) {
    const bool begins = (static_cast<unsigned char>(text[bytes]) & 0xc0) != 0x80;
    if (begins && ++used > room) break;
  }
  return std::string(text.substr(0, bytes)).append(kCut);
}

std::string pad_right(std::string text, std::size_t columns) {
  const std::size_t used = columns_of(text);
  return used < columns ? text.append(columns - used, ' ') : text;
}

std::string pad_left(std::string text, std::size_t columns) {
  const std::size_t used = columns_of(text);
  return used < columns ? std::string(columns - used, ' ').append(text) : text;
}

std::string wrap(std::string_view text, std::size_t indent, std::size_t width) {
  if (width == 0) return std::string(text) + "\n";
  std::string result, line;
  std::istringstream words{std::string(text)};
  for (std::string word; words >> word;) {
    const bool full = columns_of(line) + 1 + columns_of(word) > width;
    if (full && line.find_first_not_of(' ') != std::string::npos) {
      result += line + "\n";
      line.assign(indent, ' ');
    }
    const bool first = line.find_first_not_of(' ') == std::string::npos;
    line += (first ? "" : " ") + word;
  }
  return result + line + "\n";
}

std::string count_text(std::uint64_t count) {
  if (count >= 10'000'000) {
    double scaled = static_cast<double>(count) / 1e6;
    const char* unit = "M";
    for (const char* next : {"G", "T", "P", "E"}) {
      if (scaled < 999.95) break;
      scaled /= 1e3;
      unit = next;
    }
    return fmt::format("{:.1f}{}", scaled, unit);
  }
  std::string digits = std::to_string(count);
  for (std::size_t at = digits.size(); at > 3;) digits.insert(at -= 3, ",");
  return digits;
}

std::string ratio_text(std::uint64_t numerator, std::uint64_t denominator) {
  if (denominator == 0) return "0.0";
  return fmt::format("{:.1f}", static_cast<double>(numerator) / static_cast<double>(denominator));
}

std::string shape_text(const std::array<unsigned, 3>& shape) {
  if (shape[2] != 1) return fmt::format("({},{},{})", shape[0], shape[1], shape[2]);
  if (shape[1] != 1) return fmt::format("({},{})", shape[0], shape[1]);
  return std::to_string(shape[0]);
}

const std::string& Sources::line(const std::string& file, int number) {
  static const std::string none;
  if (file.empty() || number < 1) return none;
  auto entry = files_.find(file);
  if (entry == files_.end()) entry = files_.emplace(file, read_lines(root_ / file)).first;
  const auto index = static_cast<std::size_t>(number) - 1;
  return index < entry->second.size() ? entry->second[index] : none;
}

}  // namespace simt::report
