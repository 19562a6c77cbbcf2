#include "classroom/cohort_html.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "classroom/text.hpp"
#include "grading/base/messages.hpp"

namespace course::classroom {
namespace {

constexpr std::size_t kMessageBytes = 200;

/// The first `bytes` of UTF-8, or less where that would cut a character.
std::string_view cut(std::string_view text, std::size_t bytes) {
  if (text.size() <= bytes) return text;
  while (bytes > 0 && (static_cast<unsigned char>(text[bytes]) & 0xc0) == 0x80) --bytes;
  return text.substr(0, bytes);
}

/// Heights and widths of the histogram, in the units of its view box.
struct Chart {
  static constexpr double kWidth = 480, kHeight = 196, kLeft = 20, kBin = 44, kBase = 158, kTallest = 130;
};

std::string bin_words(std::size_t bin) { return fmt::format("{} to {} %", 10 * bin, 10 * (bin + 1)); }

std::string histogram_description(const TotalNumbers& numbers) {
  std::string words;
  for (std::size_t bin = 0; bin < numbers.bins.size(); ++bin) {
    if (numbers.bins[bin] == 0) continue;
    if (!words.empty()) words += "; ";
    words += bin_words(bin) + ": " + grading::plural(numbers.bins[bin], "student");
  }
  return words;
}

}  // namespace

std::string escaped(std::string_view text) { return html_escape(one_line(text)); }

std::string name_html(std::string_view name) { return "<bdi>" + escaped(name) + "</bdi>"; }

std::string headline(std::string_view message) {
  const std::size_t begin = message.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return "";
  const std::string_view line = message.substr(begin, message.find_first_of("\r\n", begin) - begin);
  const std::string valid = valid_utf8(line);
  const std::string_view head = cut(valid, kMessageBytes);
  return escaped(head) + (head.size() < valid.size() ? " …" : "");
}

std::string one_decimal(double value) { return fmt::format("{:.1f}", value); }

std::string lesson_html(const grading::Lesson& lesson) {
  return lesson.two_digits() + " " + escaped(lesson.title);
}

std::string section(std::string_view id, std::string_view title, const std::string& content) {
  return fmt::format(
      "<section id=\"{0}\" aria-labelledby=\"{0}-title\">\n<h2 id=\"{0}-title\">{1}</h2>\n{2}</section>\n",
      id, title, content);
}

std::string paragraph(std::string_view html) { return fmt::format("<p>{}</p>\n", html); }

std::string lesson_list(const ClassMarks& marks, const std::vector<std::size_t>& lessons) {
  if (lessons.size() == marks.lessons.size() && lessons.size() > 1) {
    return fmt::format("all {} lessons", lessons.size());
  }
  std::string list;
  for (const std::size_t lesson : lessons) {
    list += (list.empty() ? "" : ", ") + marks.lessons[lesson].two_digits();
  }
  return list;
}

std::string table(const std::string& name, const std::string& caption, const std::vector<Column>& columns,
                  const std::vector<std::vector<std::string>>& rows) {
  std::string html = fmt::format(
      "<div class=\"wide\" role=\"region\" tabindex=\"0\" aria-labelledby=\"{0}-caption\">\n<table "
      "class=\"{0}\">\n"
      "<caption id=\"{0}-caption\"><span>{1}</span></caption>\n<thead><tr>",
      name, caption);
  for (const Column& column : columns) {
    html +=
        fmt::format("<th scope=\"col\"{}>{}</th>", column.is_number ? " class=\"number\"" : "", column.head);
  }
  html += "</tr></thead>\n<tbody>\n";
  for (const std::vector<std::string>& row : rows) {
    html += "<tr>";
    for (std::size_t i = 0; i < row.size(); ++i) {
      // A cell may bring its own tag, for a colour.
      if (row[i].starts_with("<td")) {
        html += row[i];
      } else if (i == 0) {
        html += "<th scope=\"row\">" + row[i] + "</th>";
      } else {
        html += fmt::format("<td{}>{}</td>", columns[i].is_number ? " class=\"number\"" : "", row[i]);
      }
    }
    html += "</tr>\n";
  }
  return html + "</tbody>\n</table>\n</div>\n";
}

std::string table_or(const std::string& sentence, const std::string& name, const std::string& caption,
                     const std::vector<Column>& columns, const std::vector<std::vector<std::string>>& rows) {
  return rows.empty() ? paragraph(sentence) : table(name, caption, columns, rows);
}

std::string share_bar(double share) {
  constexpr double kWidth = 96;
  return fmt::format(
      "<svg class=\"bar\" width=\"{0}\" height=\"12\" viewBox=\"0 0 {0} 12\" aria-hidden=\"true\">"
      "<rect class=\"track\" width=\"{0}\" height=\"12\" rx=\"2\"/>"
      "<rect class=\"fill\" width=\"{1:.1f}\" height=\"12\" rx=\"2\"/></svg>",
      kWidth, kWidth * std::clamp(share, 0.0, 1.0));
}

const char* level_class(Level level) {
  switch (level) {
    case Level::all:
      return "level-all";
    case Level::most:
      return "level-most";
    case Level::some:
      return "level-some";
    case Level::none:
      return "level-none";
    case Level::stopped:
      return "level-stopped";
    case Level::missing:
      return "level-missing";
    case Level::ungraded:
      return "level-ungraded";
  }
  return "";
}

std::string level_bar(const LessonNumbers& numbers) {
  constexpr double kWidth = 180, kGap = 1.5;
  std::size_t all = 0;
  for (const std::size_t count : numbers.levels) all += count;
  std::string words, pieces;
  double x = 0;
  for (std::size_t i = 0; i < kLevels && all > 0; ++i) {
    if (numbers.levels[i] == 0) continue;
    const double width = kWidth * static_cast<double>(numbers.levels[i]) / static_cast<double>(all);
    pieces +=
        fmt::format("<rect class=\"{}\" x=\"{:.1f}\" y=\"0.5\" width=\"{:.1f}\" height=\"15\" rx=\"1.5\"/>",
                    level_class(Level{static_cast<int>(i)}), x + 0.5, std::max(width - kGap, 0.5));
    words += fmt::format("{}{} {}", words.empty() ? "" : ", ", numbers.levels[i],
                         level_words(Level{static_cast<int>(i)}));
    x += width;
  }
  return fmt::format(
      "<svg class=\"levels\" width=\"{0}\" height=\"16\" viewBox=\"0 0 {0} 16\" role=\"img\" "
      "aria-label=\"{1}\"><title>{1}</title>{2}</svg>",
      kWidth, words.empty() ? "nobody" : words, pieces);
}

std::string level_key() {
  std::string html = "<ul class=\"key\">";
  for (std::size_t i = 0; i < kLevels; ++i) {
    const Level one{static_cast<int>(i)};
    html += fmt::format("<li><span class=\"swatch {}\"></span>{}</li>", level_class(one), level_words(one));
  }
  return html + "</ul>\n";
}

std::string histogram(const TotalNumbers& numbers) {
  const std::size_t highest = *std::max_element(numbers.bins.begin(), numbers.bins.end());
  std::string html = fmt::format(
      "<svg class=\"histogram\" viewBox=\"0 0 {} {}\" role=\"img\" aria-labelledby=\"histogram-title "
      "histogram-text\">\n"
      "<title id=\"histogram-title\">Students by the share of all points that they reached</title>\n"
      "<desc id=\"histogram-text\">{}</desc>\n",
      Chart::kWidth, Chart::kHeight, histogram_description(numbers));
  for (std::size_t bin = 0; bin < numbers.bins.size(); ++bin) {
    const double x = Chart::kLeft + Chart::kBin * static_cast<double>(bin);
    const double height = highest == 0 ? 0
                                       : Chart::kTallest * static_cast<double>(numbers.bins[bin]) /
                                             static_cast<double>(highest);
    if (numbers.bins[bin] == 0) continue;
    html += fmt::format(
        "<rect class=\"fill\" x=\"{:.0f}\" y=\"{:.1f}\" width=\"{:.0f}\" height=\"{:.1f}\" rx=\"2\"/>"
        "<text x=\"{:.0f}\" y=\"{:.1f}\">{}</text>\n",
        x + 2, Chart::kBase - height, Chart::kBin - 4, height, x + Chart::kBin / 2, Chart::kBase - height - 7,
        numbers.bins[bin]);
  }
  html += fmt::format("<path class=\"axis\" d=\"M{:.0f} {:.1f}H{:.0f}\"/>\n", Chart::kLeft,
                      Chart::kBase + 0.5, Chart::kLeft + 10 * Chart::kBin);
  for (int percent = 0; percent <= 100; percent += 20) {
    html += fmt::format("<text class=\"tick\" x=\"{:.0f}\" y=\"{:.0f}\">{}</text>",
                        Chart::kLeft + 4.4 * percent, Chart::kBase + 24, percent);
  }
  return html + "\n</svg>\n";
}

}  // namespace course::classroom
