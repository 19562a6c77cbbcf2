#include "classroom/cohort_page.hpp"

#include <fmt/format.h>

#include <stdexcept>
#include <string_view>

#include "classroom/cohort_html.hpp"
#include "classroom/cohort_sections.hpp"
#include "grading/base/sha256.hpp"

namespace course::classroom {
namespace {

/// Refuses what could not stand between the tags of its element as it is.
void check_inline(std::string_view text, const char* argument, std::string_view end) {
  if (text.find(end) != std::string_view::npos) {
    throw std::invalid_argument(fmt::format(
        "{} has \"{}\" in it, which would end its element; write it in another way", argument, end));
  }
  if (text.find('\r') != std::string_view::npos) {
    throw std::invalid_argument(
        fmt::format("{} has carriage returns in it; lines should end with \\n alone", argument));
  }
}

std::string title_of(const ClassMarks& marks) { return marks.title.empty() ? "The class" : marks.title; }

std::string policy(const std::string& css, const std::string& script) {
  return fmt::format(
      "default-src 'none'; style-src 'sha256-{}'; script-src {}; img-src data:; base-uri 'none'; "
      "form-action 'none'",
      grading::sha256_base64(css),
      script.empty() ? "'none'" : "'sha256-" + grading::sha256_base64(script) + "'");
}

std::string head(const ClassMarks& marks, const std::string& css, const std::string& script) {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n<meta name=\"referrer\" "
      "content=\"no-referrer\">\n"
      "<title>{}: the class at a glance</title>\n<link rel=\"icon\" "
      "href=\"data:,\">\n<style>{}</style>\n</head>\n",
      policy(css, script), escaped(title_of(marks)), css);
}

std::string navigation(bool has_ungraded) {
  return fmt::format(
      "<nav aria-label=\"On this page\">\n<ul>\n{}"
      "<li><a href=\"#points\">Points</a></li>\n<li><a href=\"#lessons\">Lessons</a></li>\n"
      "<li><a href=\"#cases\">Cases</a></li>\n<li><a href=\"#diagnoses\">Diagnoses</a></li>\n"
      "<li><a href=\"#stopped\">Before any test</a></li>\n"
      "<li><a href=\"#slowest\">Slowest files</a></li>\n"
      "<li><a href=\"#students\">Students</a></li>\n</ul>\n</nav>\n",
      has_ungraded ? "<li><a href=\"#ungraded\">Not graded</a></li>\n" : "");
}

}  // namespace

std::string cohort_page(const ClassMarks& marks, const std::string& css, const std::string& script) {
  check_inline(css, "css", "</style");
  check_inline(script, "script", "</script");
  const std::string box = ungraded_box(marks);
  std::string html = head(marks, css, script);
  html +=
      fmt::format("<body>\n<header>\n<p class=\"brand\">FlashAttention, kernel by kernel</p>\n<h1>{}</h1>\n",
                  name_html(title_of(marks)));
  html += facts_line(marks) + navigation(!box.empty()) + "</header>\n<main>\n";
  html +=
      box + points_section(marks) + lessons_section(marks) + cases_section(marks) + diagnoses_section(marks);
  html += stopped_section(marks) + slowest_section(marks) + students_section(marks) + "</main>\n";
  if (!script.empty()) html += "<script>" + script + "</script>\n";
  return html + "</body>\n</html>\n";
}

}  // namespace course::classroom
