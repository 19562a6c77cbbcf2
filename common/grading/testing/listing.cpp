#include "grading/testing/listing.hpp"

#include <algorithm>
#include <map>

#include "grading/calls/session.hpp"
#include "grading/testing/case.hpp"

namespace course::grading {
namespace {

bool& rehearsal() {
  static bool on = false;
  return on;
}

std::map<std::string, std::vector<std::string>, std::less<>>& sentences_by_name() {
  static std::map<std::string, std::vector<std::string>, std::less<>> all;
  return all;
}

}  // namespace

void begin_rehearsal() {
  rehearsal() = true;
  findings_only() = true;
  SessionConfig config;
  config.rehearse = true;
  configure_default_session(std::move(config));
}

bool rehearsing() { return rehearsal(); }

void list_mistake(std::string_view name, std::string_view sentence) {
  if (!rehearsing() || name.empty()) return;
  std::vector<std::string>& sentences = sentences_by_name()[std::string(name)];
  std::string told(sentence);
  for (std::size_t at = told.find("{}"); at != std::string::npos; at = told.find("{}"))
    told.replace(at, 2, "...");
  if (!told.empty() && std::find(sentences.begin(), sentences.end(), told) == sentences.end())
    sentences.push_back(std::move(told));
}

std::vector<ListedMistake> rehearsed_mistakes() {
  std::vector<ListedMistake> all;
  for (const auto& [name, sentences] : sentences_by_name()) all.push_back({name, sentences});
  return all;
}

}  // namespace course::grading
