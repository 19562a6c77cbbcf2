#include "grading/facts/results.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include "grading/base/descriptor.hpp"

namespace course::grading {
namespace {

using nlohmann::json;

}  // namespace

CaseResult case_from_json(const json& value) {
  CaseResult result;
  value.at("name").get_to(result.name);
  value.at("tags").get_to(result.tags);
  value.at("points").get_to(result.points);
  value.at("passed").get_to(result.passed);
  value.at("seconds").get_to(result.seconds);
  value.at("seed").get_to(result.seed);
  value.at("infrastructure").get_to(result.infrastructure);
  value.at("printed").get_to(result.printed);
  for (const json& failure : value.at("failures")) result.failures.push_back(failure_from_json(failure));
  result.findings = findings_from_json(value.at("findings"));
  value.at("counters").get_to(result.counters);
  result.launches = launches_from_json(value.at("launches"));
  return result;
}

std::string to_json_line(const CaseResult& result) {
  nlohmann::ordered_json line;
  line["name"] = result.name;
  line["tags"] = result.tags;
  line["points"] = result.points;
  line["passed"] = result.passed;
  line["seconds"] = result.seconds;
  line["seed"] = result.seed;
  line["infrastructure"] = result.infrastructure;
  line["printed"] = result.printed;
  json failures = json::array();
  for (const Failure& failure : result.failures) failures.push_back(failure_to_json(failure));
  line["failures"] = std::move(failures);
  line["findings"] = findings_to_json(result.findings);
  line["counters"] = result.counters;
  line["launches"] = launches_to_json(result.launches);
  return line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

Results read_results(const std::filesystem::path& file) {
  Results results;
  std::ifstream stream(file, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  std::size_t begin = 0;
  for (int line = 1; begin < text.size(); ++line) {
    const std::size_t end = text.find('\n', begin);
    if (end == std::string::npos) {
      results.truncated = true;
      break;
    }
    try {
      results.cases.push_back(case_from_json(json::parse(text.substr(begin, end - begin))));
    } catch (const json::exception& error) {
      throw std::runtime_error(
          fmt::format("{}:{} is not a test result: {}", file.string(), line, error.what()));
    }
    begin = end + 1;
  }
  return results;
}

int count_results(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  const std::istreambuf_iterator<char> begin(stream), end;
  return static_cast<int>(std::count(begin, end, '\n'));
}

bool explains_findings(const CaseResult& result) {
  return std::any_of(result.failures.begin(), result.failures.end(),
                     [](const Failure& one) { return one.explains_findings; });
}

void fail_if_found(CaseResult& result) {
  if (std::any_of(result.findings.begin(), result.findings.end(),
                  [](const Finding& finding) { return finding.severity == Severity::error; }))
    result.passed = false;
}

void append_result(const std::filesystem::path& file, const CaseResult& result) {
  const std::string line = to_json_line(result) + "\n";
  const Descriptor out(open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
  const ssize_t written = out ? write(out.get(), line.data(), line.size()) : -1;
  if (written != static_cast<ssize_t>(line.size()))
    throw std::runtime_error(fmt::format("cannot write the results file {}: {}", file.string(),
                                         written < 0 ? std::strerror(errno) : "the disk is full"));
}

}  // namespace course::grading
