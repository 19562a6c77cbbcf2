#include "grading/facts/listing.hpp"

#include <nlohmann/json.hpp>
#include <stdexcept>

namespace course::grading {
namespace {

using nlohmann::json;

constexpr int kVersion = 1;

std::string line_of(const char* key, json list) {
  const json document{{"version", kVersion}, {key, std::move(list)}};
  return document.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

/// The list under the key, each element read by `read`.
template <class T, class Read>
std::vector<T> list_from(std::string_view text, const char* key, const Read& read) try {
  const json document = json::parse(text);
  if (document.at("version") != kVersion) throw std::runtime_error("it has another version");
  std::vector<T> list;
  for (const json& one : document.at(key)) list.push_back(read(one));
  return list;
} catch (const std::exception& problem) {
  throw std::runtime_error(std::string("this is no list of ") + key + ": " + problem.what());
}

}  // namespace

std::string to_json_line(const std::vector<ListedCase>& cases) {
  json list = json::array();
  for (const ListedCase& one : cases)
    list.push_back({{"name", one.name}, {"tags", one.tags}, {"points", one.points}});
  return line_of("cases", std::move(list));
}

std::string to_json_line(const std::vector<ListedMistake>& mistakes) {
  json list = json::array();
  for (const ListedMistake& one : mistakes)
    list.push_back({{"name", one.name}, {"sentences", one.sentences}});
  return line_of("mistakes", std::move(list));
}

std::vector<ListedCase> listed_cases(std::string_view text) {
  return list_from<ListedCase>(text, "cases", [](const json& one) {
    return ListedCase{one.at("name"), one.at("tags"), one.at("points")};
  });
}

std::vector<ListedMistake> listed_mistakes(std::string_view text) {
  return list_from<ListedMistake>(text, "mistakes", [](const json& one) {
    return ListedMistake{one.at("name"), one.at("sentences")};
  });
}

}  // namespace course::grading
