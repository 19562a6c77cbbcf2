#include "grading/facts/profile.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "simt/report/fields.hpp"

namespace course::grading {
namespace {

using nlohmann::json;

/// Calls visit(group, name, field) for every counter; the group is empty for those that have none.
/// `Counters` may be const.
template <class Counters, class Visit>
void visit_fields(Counters& counters, Visit visit) {
  using namespace simt::report;
  for (const auto& kind : kGlobalKinds)
    for (const auto& field : kGlobalFields) visit(kind.name, field.name, counters.*kind.member.*field.member);
  for (const auto& kind : kSharedKinds)
    for (const auto& field : kSharedFields) visit(kind.name, field.name, counters.*kind.member.*field.member);
  for (const auto& field : kEventFields) visit("", field.name, counters.*field.member);
}

std::string full_name(const std::string& group, const char* name) {
  return group.empty() ? name : group + "." + name;
}

json to_json(const simt::Counters& counters) {
  json value = json::object();
  visit_fields(counters, [&](const std::string& group, const char* name, std::uint64_t count) {
    if (count > 0) value[full_name(group, name)] = count;
  });
  return value;
}

simt::Counters counters_from_json(const json& value) {
  simt::Counters counters;
  visit_fields(counters, [&](const std::string& group, const char* name, std::uint64_t& count) {
    count = value.value(full_name(group, name), std::uint64_t{0});
  });
  return counters;
}

std::array<std::uint64_t, 5> numbers_of(const simt::BlockOrder& order) {
  return {order.blocks, order.work, order.largest, order.last_largest, order.busiest};
}

simt::BlockOrder order_from_json(const json& value) {
  const auto numbers = value.get<std::array<std::uint64_t, 5>>();
  return {.blocks = numbers[0],
          .work = numbers[1],
          .largest = numbers[2],
          .last_largest = numbers[3],
          .busiest = numbers[4]};
}

}  // namespace

Profile make_profile(std::vector<simt::LaunchProfile> launches) {
  Profile profile;
  for (const simt::LaunchProfile& launch : launches) simt::report::add(profile, launch.total);
  profile.launches = std::move(launches);
  return profile;
}

Profile with_atomics_as_accesses(Profile profile) {
  constexpr std::uint64_t kFewAtomicBytes = 1024,
                          kFewOf = 8;  // one, of so many bytes that are loaded, or that are stored
  const std::uint64_t bytes = profile.global_atomic.bytes_asked,
                      accessed = std::min(profile.global_load.bytes_asked, profile.global_store.bytes_asked);
  const bool many_in_global = bytes > kFewAtomicBytes && bytes * kFewOf > accessed;
  const bool many_in_shared = profile.shared_atomic.bytes_asked > kFewAtomicBytes;
  if (!many_in_global && !many_in_shared) return profile;
  const auto count = [=](simt::Counters& counters) {
    simt::Counters accesses;
    if (many_in_global) accesses.global_load = accesses.global_store = counters.global_atomic;
    if (many_in_shared) accesses.shared_load = accesses.shared_store = counters.shared_atomic;
    simt::report::add(counters, accesses);
  };
  count(profile);
  for (simt::LaunchProfile& launch : profile.launches) {
    count(launch.total);
    for (simt::LineProfile& line : launch.lines) count(line.counters);
  }
  return profile;
}

void for_each_counter(const simt::Counters& counters,
                      const std::function<void(const std::string& name, std::uint64_t value)>& visit) {
  visit_fields(counters, [&](const std::string& group, const char* name, std::uint64_t count) {
    visit(full_name(group, name), count);
  });
}

json launches_to_json(const std::vector<simt::LaunchProfile>& launches) {
  json list = json::array();
  for (const simt::LaunchProfile& launch : launches) {
    json lines = json::array();
    for (const simt::LineProfile& line : launch.lines)
      lines.push_back({{"file", line.file}, {"line", line.line}, {"counters", to_json(line.counters)}});
    list.push_back(
        {{"kernel", launch.kernel},
         {"grid", launch.grid},
         {"block", launch.block},
         {"total", to_json(launch.total)},
         {"order", numbers_of(launch.order)},
         {"loads", numbers_of(launch.loads)},
         {"stores", numbers_of(launch.stores)},
         {"copies_ahead", {launch.copies_ahead.of_shared_loads, launch.copies_ahead.of_global_stores}},
         {"lines", std::move(lines)}});
  }
  return list;
}

std::vector<simt::LaunchProfile> launches_from_json(const json& value) {
  std::vector<simt::LaunchProfile> launches;
  for (const json& item : value) {
    simt::LaunchProfile& launch = launches.emplace_back();
    item.at("kernel").get_to(launch.kernel);
    item.at("grid").get_to(launch.grid);
    item.at("block").get_to(launch.block);
    launch.total = counters_from_json(item.at("total"));
    launch.order = order_from_json(item.at("order"));
    launch.loads = order_from_json(item.at("loads"));
    launch.stores = order_from_json(item.at("stores"));
    const auto ahead = item.at("copies_ahead").get<std::array<std::uint64_t, 2>>();
    launch.copies_ahead = {.of_shared_loads = ahead[0], .of_global_stores = ahead[1]};
    for (const json& line : item.at("lines"))
      launch.lines.push_back({line.at("file"), line.at("line"), counters_from_json(line.at("counters"))});
  }
  return launches;
}

}  // namespace course::grading
