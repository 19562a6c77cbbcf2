#include "classroom/verdict.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <system_error>

#include "grading/base/machine_error.hpp"
#include "grading/base/sha256.hpp"
#include "grading/base/subprocess.hpp"

namespace course::classroom {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

json cases_to_json(const std::vector<grading::CaseResult>& cases) {
  json list = json::array();
  for (const grading::CaseResult& result : cases) list.push_back(json::parse(grading::to_json_line(result)));
  return list;
}

std::vector<grading::CaseResult> cases_from_json(const json& list) {
  std::vector<grading::CaseResult> cases;
  for (const json& item : list) cases.push_back(grading::case_from_json(item));
  return cases;
}

Standing standing_named(const std::string& name) {
  for (const Standing standing :
       {Standing::graded, Standing::not_compiled, Standing::refused, Standing::missing})
    if (name == standing_name(standing)) return standing;
  return Standing::ungraded;
}

/// @throws json::exception
FileVerdict read_verdict(const json& record) {
  FileVerdict verdict;
  verdict.standing = standing_named(record.at("standing"));
  verdict.message = record.at("message");
  verdict.open = cases_from_json(record.at("open"));
  verdict.hidden = cases_from_json(record.at("hidden"));
  verdict.seconds = record.at("seconds");
  return verdict;
}

}  // namespace

VerdictStore::VerdictStore(fs::path folder) : folder_(std::move(folder)) {
  std::error_code error;
  fs::create_directories(folder_, error);
  if (error)
    throw grading::MachineError(
        fmt::format("The folder {} cannot be made: {}.", folder_.string(), error.message()));
}

std::string VerdictStore::name_of(const std::string& conditions, const std::string& content) {
  return grading::sha256_hex(conditions + "\n" + content);
}

fs::path VerdictStore::file_of(const std::string& conditions, const std::string& content) const {
  return folder_ / (name_of(conditions, content) + ".json");
}

std::optional<FileVerdict> VerdictStore::find(const std::string& conditions,
                                              const std::string& content) const {
  const fs::path file = file_of(conditions, content);
  if (!fs::exists(file)) return std::nullopt;
  try {
    const json record = json::parse(grading::read_file(file));
    // Not by the name alone: the disk may have lost what was written to it.
    const fs::path judged = fs::path(file).replace_extension(".cu");
    if (record.at("conditions") != conditions || grading::read_file(judged) != content) return std::nullopt;
    return read_verdict(record);
  } catch (const std::exception&) {
    return std::nullopt;  // judged again, and written anew
  }
}

FileVerdict VerdictStore::keep(const std::string& conditions, const std::string& content,
                               const FileVerdict& verdict) const {
  const fs::path file = file_of(conditions, content);
  const json record = {{"conditions", conditions},
                       {"standing", standing_name(verdict.standing)},
                       {"message", verdict.message},
                       {"open", cases_to_json(verdict.open)},
                       {"hidden", cases_to_json(verdict.hidden)},
                       {"seconds", verdict.seconds}};
  grading::write_file_atomically(fs::path(file).replace_extension(".cu"), content);
  const std::string text = record.dump(-1, ' ', false, json::error_handler_t::replace);
  grading::write_file_atomically(file, text);
  return read_verdict(json::parse(text));
}

void VerdictStore::forget(const std::string& conditions, const std::string& content) const {
  std::error_code ignored;
  fs::remove(file_of(conditions, content), ignored);
}

}  // namespace course::classroom
