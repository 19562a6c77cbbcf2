#include "classroom/class_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <system_error>

#include "grading/base/machine_error.hpp"

namespace course::classroom {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {
/// For the user that compilers run as.
constexpr fs::perms kPassable = fs::perms::owner_all | fs::perms::group_exec | fs::perms::others_exec;
}  // namespace

Part parse_part(const std::string& text) {
  Part part;
  const char* const end = text.data() + text.size();
  const auto number = std::from_chars(text.data(), end, part.number);
  if (number.ec == std::errc() && number.ptr != end && *number.ptr == '/') {
    const auto count = std::from_chars(number.ptr + 1, end, part.count);
    if (count.ec == std::errc() && count.ptr == end && part.number >= 1 && part.number <= part.count)
      return part;
  }
  throw std::invalid_argument(fmt::format("{} is no part: the third of eight is 3/8.", text));
}

void write_state(const fs::path& file, const PartState& state) {
  const json record = {{"host", state.host},   {"conditions", state.conditions}, {"judged", state.judged},
                       {"ended", state.ended}, {"ungraded", state.ungraded},     {"error", state.error}};
  grading::write_file_atomically(file, record.dump(-1, ' ', false, json::error_handler_t::replace));
}

std::optional<PartState> read_state(const fs::path& file) try {
  const json record = json::parse(grading::read_file(file));
  return PartState{.host = record.at("host"),
                   .conditions = record.at("conditions"),
                   .judged = record.at("judged"),
                   .ended = record.at("ended"),
                   .ungraded = record.at("ungraded"),
                   .error = record.at("error")};
} catch (const std::exception&) {
  return std::nullopt;
}

fs::path parts_folder(const fs::path& results) { return results / ".grading" / "parts"; }

fs::path state_file(const fs::path& parts, unsigned number) { return parts / fmt::format("{}.json", number); }

void make_grading_folders(const fs::path& results) {
  const fs::path own = results / ".grading";
  fs::create_directories(own / "verdicts");
  fs::create_directories(own / "parts");
  fs::permissions(own / "verdicts", fs::perms::owner_all);  // hidden data, and what others handed in
  for (const fs::path& folder : {own / "parts", own}) fs::permissions(folder, kPassable);
}

PartFolder::PartFolder(const fs::path& results, const Part& part) try
    : verdicts_(results / ".grading" / "verdicts"), state_(state_file(parts_folder(results), part.number)) {
  make_grading_folders(results);
  scratch_.emplace(parts_folder(results));
  fs::permissions(scratch(), kPassable);
} catch (const std::system_error& error) {
  throw grading::MachineError(
      fmt::format("The folder {} cannot be written: {}.", results.string(), error.code().message()));
}

}  // namespace course::classroom
