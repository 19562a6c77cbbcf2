#include "cli/staff/bench_report.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <utility>

namespace course::cli {
namespace {

using namespace course::grading;
using Json = nlohmann::ordered_json;

constexpr std::size_t kIndent = 2, kNumberColumns = 50;  // of a row, behind the shape

std::string rate_text(const Measurement& measurement, Limit limit) {
  if (limit == Limit::operations) return fmt::format("{:.2f} TFLOP/s", measurement.teraflops());
  const double rate = measurement.gigabytes_per_second();
  return fmt::format("{:.{}f} GB/s", rate, rate < 100 ? 1 : 0);
}

std::string percent_text(double share) { return fmt::format("{:.{}f} %", 100 * share, share < 0.1 ? 1 : 0); }

std::string numbers_of_row(std::string_view time, std::string_view rate, std::string_view floor,
                           std::string_view limit, std::string_view share) {
  return fmt::format("  {:>9}  {:>13}  {:>9} {:<5}  {:>5}", time, rate, floor, limit, share);
}

/// A row whose first column takes what the numbers leave, or a line of its own.
std::string row(const Terminal& terminal, std::string_view first, const std::string& numbers) {
  const std::size_t room = terminal.width() - std::min(terminal.width(), kIndent + kNumberColumns);
  const std::string indent(kIndent, ' ');
  if (columns_of(first) <= room) return fmt::format("{}{:<{}}{}\n", indent, first, room, numbers);
  return wrap(first, kIndent, terminal.width()) + fmt::format("{}{:<{}}{}\n", indent, "", room, numbers);
}

std::string row_of(const Terminal& terminal, const Measurement& measurement, const Ceilings& ceilings) {
  const Floor floor = floor_of(measurement, ceilings);
  return row(terminal, measurement.label,
             numbers_of_row(duration_text(measurement.milliseconds), rate_text(measurement, floor.limit),
                            duration_text(floor.milliseconds), floor.limit == Limit::bytes ? "bytes" : "ops",
                            percent_text(floor.milliseconds / measurement.milliseconds)));
}

std::string table(const Terminal& terminal, const BenchmarkResults& results, const Ceilings& ceilings) {
  if (results.measurements.empty()) return "";
  std::string text =
      terminal.paint(Style::note, row(terminal, "", numbers_of_row("time", "rate", "floor", "", "share")));
  std::string series;
  for (const Measurement& measurement : results.measurements) {
    if (std::exchange(series, measurement.series) != series) text += fmt::format("  {}\n", series);
    text += row_of(terminal, measurement, ceilings);
  }
  return text;
}

/// "1980 MHz, 512 W, 48 C", as far as known.
std::string reading_text(const GpuReading& reading) {
  std::string text;
  const auto add = [&](const std::optional<double>& number, const char* unit) {
    if (number) text += fmt::format("{}{:.0f} {}", text.empty() ? "" : ", ", *number, unit);
  };
  add(reading.sm_megahertz, "MHz");
  add(reading.watts, "W");
  add(reading.celsius, "C");
  return text;
}

std::string clocks_text(const LessonBench& bench) {
  std::string text;
  for (const auto& [when, reading] : {std::pair("before", bench.before), std::pair("after", bench.after)})
    if (reading) text += fmt::format("{}{} {}", text.empty() ? "" : "; ", when, reading_text(*reading));
  return text;
}

std::string kernel_text(const LessonBench& bench) {
  return bench.kernel == "solution" ? "worked solution" : bench.kernel;
}

/// Six digits, which is more than any measurement has.
double rounded(double number) { return std::stod(fmt::format("{:.6g}", number)); }

Json number_or_null(const std::optional<double>& number) { return number ? Json(rounded(*number)) : Json(); }

Json reading_json(const std::optional<GpuReading>& reading) {
  if (!reading) return nullptr;
  return {{"sm_megahertz", number_or_null(reading->sm_megahertz)},
          {"memory_megahertz", number_or_null(reading->memory_megahertz)},
          {"watts", number_or_null(reading->watts)},
          {"celsius", number_or_null(reading->celsius)}};
}

Json measurement_json(const Measurement& measurement) {
  return {{"series", measurement.series},
          {"label", measurement.label},
          {"shape", measurement.shape},
          {"milliseconds", measurement.milliseconds},
          {"repetitions", measurement.repetitions},
          {"operations", static_cast<std::int64_t>(measurement.operations)},
          {"unit", unit_name(measurement.unit)},
          {"bytes", static_cast<std::int64_t>(measurement.bytes)},
          {"teraflops", rounded(measurement.teraflops())},
          {"gigabytes_per_second", rounded(measurement.gigabytes_per_second())}};
}

Json measurement_json(const Measurement& measurement, const Ceilings& ceilings) {
  const Floor floor = floor_of(measurement, ceilings);
  Json object = measurement_json(measurement);
  object["floor"] = {{"limit", limit_name(floor.limit)}, {"milliseconds", rounded(floor.milliseconds)}};
  object["floor_share"] = rounded(floor.milliseconds / measurement.milliseconds);
  return object;
}

Json lesson_json(const LessonBench& bench, const Ceilings& ceilings) {
  constexpr const char* kStatus[] = {"timed", "failed", "error"};
  Json measurements = Json::array(), left_out = Json::array();
  for (const Measurement& one : bench.results.measurements)
    measurements.push_back(measurement_json(one, ceilings));
  for (const LeftOut& one : bench.results.left_out)
    left_out.push_back({{"series", one.series}, {"label", one.label}, {"reason", one.reason}});
  return {{"number", bench.lesson.number},
          {"name", bench.lesson.name},
          {"title", bench.lesson.title},
          {"kernel", bench.kernel},
          {"status", kStatus[static_cast<int>(bench.status)]},
          {"reason", bench.reason},
          {"clocks", {{"before", reading_json(bench.before)}, {"after", reading_json(bench.after)}}},
          {"measurements", std::move(measurements)},
          {"left_out", std::move(left_out)}};
}

}  // namespace

std::string duration_text(double milliseconds) {
  const bool seconds = milliseconds >= 1000, micro = milliseconds < 0.1;
  const double value = seconds ? milliseconds / 1000 : micro ? milliseconds * 1000 : milliseconds;
  const int decimals = value < 1 ? 4 : value < 10 ? 3 : value < 100 ? 2 : 1;
  return fmt::format("{:.{}f} {}", value, decimals, seconds ? "s" : micro ? "us" : "ms");
}

std::string render_ceilings(const Terminal& terminal, const BenchCeilings& ceilings) {
  const Ceilings& rates = ceilings.rates;
  const auto fact = [&](const char* name) { return ceilings.machine.value(name, std::string("unknown")); };
  std::string text = fmt::format("{}, driver {}, CUDA {}\n", fact("gpu"), fact("driver"), fact("cuda"));
  text += fmt::format("A copy moves {:.0f} GB/s. ", rates.copy_gigabytes_per_second);
  if (rates.float32_matmul_teraflops)
    text += fmt::format("cuBLAS multiplies matrices at {:.1f} TFLOP/s in float32. ",
                        *rates.float32_matmul_teraflops);
  if (rates.bfloat16_matmul_teraflops)
    text += fmt::format("On tensor cores, in bfloat16, it reaches {:.0f} TFLOP/s. ",
                        *rates.bfloat16_matmul_teraflops);
  text +=
      "The floor of a time is what the bytes of the problem take at the rate of a copy, or its operations "
      "(ops) at that of the unit that does them, whichever is longer.";
  if (!rates.why_no_matmul.empty())
    text += fmt::format(" Where that unit's rate is missing, only bytes count: {}.", rates.why_no_matmul);
  return wrap(text, 0, terminal.width());
}

std::string render_bench(const Terminal& terminal, const LessonBench& bench, const BenchCeilings& ceilings) {
  const std::string title = fmt::format("{} {}", bench.lesson.two_digits(), bench.lesson.title);
  if (bench.status == BenchStatus::failed)
    return wrap(fmt::format("{} ({}): {} {}", title, kernel_text(bench), bench.reason, bench.advice), 0,
                terminal.width());
  std::string heading = wrap(fmt::format("{} ({})", title, kernel_text(bench)), 0, terminal.width());
  heading.pop_back();
  std::string text = terminal.paint(Style::strong, heading) + "\n";
  text += table(terminal, bench.results, ceilings.rates);
  for (const LeftOut& one : bench.results.left_out)
    text += wrap(
        fmt::format("Left out: {}{}{}: {}.", one.series, one.label.empty() ? "" : " ", one.label, one.reason),
        kIndent, terminal.width());
  if (const std::string clocks = clocks_text(bench); !clocks.empty())
    text += terminal.paint(Style::note, wrap(fmt::format("GPU {}", clocks), kIndent, terminal.width()));
  return text + wrap(bench.reason, kIndent, terminal.width());
}

Json bench_json(const std::string& command, const BenchCeilings& ceilings,
                const std::vector<LessonBench>& lessons) {
  Json document = {{"version", 1}, {"command", command}};
  for (const auto& [name, value] : ceilings.machine.items())
    if (name != "pci_bus_id") document[name] = value;
  document["caches_flushed"] = true;
  Json measured = Json::array();
  for (const Measurement& one : ceilings.measurements) measured.push_back(measurement_json(one));
  if (ceilings.rates.copy_gigabytes_per_second > 0)
    document["ceilings"] = {
        {"device_copy_gigabytes_per_second", rounded(ceilings.rates.copy_gigabytes_per_second)},
        {"float32_matmul_teraflops", number_or_null(ceilings.rates.float32_matmul_teraflops)},
        {"bfloat16_matmul_teraflops", number_or_null(ceilings.rates.bfloat16_matmul_teraflops)},
        {"why_no_matmul", ceilings.rates.why_no_matmul},
        {"measurements", std::move(measured)}};
  else
    document["ceilings"] = nullptr;
  document["lessons"] = Json::array();
  for (const LessonBench& bench : lessons) document["lessons"].push_back(lesson_json(bench, ceilings.rates));
  return document;
}

std::string bench_text(const std::string& command, const BenchCeilings& ceilings,
                       const std::vector<LessonBench>& lessons) {
  return bench_json(command, ceilings, lessons).dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace course::cli
