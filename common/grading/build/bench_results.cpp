#include "grading/build/bench_results.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <stdexcept>

namespace course::grading {
namespace {

using Json = nlohmann::ordered_json;

Unit unit_named(const std::string& name) {
  for (const Unit unit : {Unit::float32, Unit::tensor_cores})
    if (name == unit_name(unit)) return unit;
  throw std::runtime_error("there is no unit '" + name + "'");
}

Measurement measurement_from(const Json& line) {
  Measurement measurement{.series = line.at("series"),
                          .label = line.at("label"),
                          .shape = line.at("shape"),
                          .milliseconds = line.at("milliseconds"),
                          .repetitions = line.at("repetitions"),
                          .operations = line.at("operations"),
                          .unit = unit_named(line.at("unit")),
                          .bytes = line.at("bytes")};
  if (!(measurement.milliseconds > 0)) throw std::runtime_error("a time is not above 0");
  return measurement;
}

void add_line(const Json& line, BenchmarkResults& results) {
  if (line.contains("gpu")) {
    results.machine = line;
  } else if (line.contains("left_out")) {
    results.left_out.push_back({line.at("series"), line.at("label"), line.at("left_out")});
  } else if (line.contains("done")) {
    results.complete = true;
  } else {
    results.measurements.push_back(measurement_from(line));
  }
}

/// A number that fills the word but for spaces around it.
std::optional<double> as_number(std::string_view word) {
  const std::size_t begin = word.find_first_not_of(" \n");
  const std::size_t end = word.find_last_not_of(" \n");
  if (begin == std::string_view::npos) return std::nullopt;
  word = word.substr(begin, end + 1 - begin);
  double number = 0;
  const auto [rest, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc() || rest != word.data() + word.size() || !std::isfinite(number))
    return std::nullopt;
  return number;
}

}  // namespace

BenchmarkResults parse_benchmark(std::string_view lines) {
  BenchmarkResults results;
  int number = 0;
  for (std::size_t begin = 0, end; (end = lines.find('\n', begin)) != std::string_view::npos;
       begin = end + 1) {
    ++number;
    try {
      add_line(Json::parse(lines.substr(begin, end - begin)), results);
    } catch (const std::exception& error) {
      throw std::runtime_error("line " + std::to_string(number) +
                               " of a benchmark's results: " + error.what());
    }
  }
  return results;
}

Ceilings ceilings_of(const BenchmarkResults& results) {
  Ceilings ceilings{.why_no_matmul = "it was not measured"};
  for (const Measurement& measurement : results.measurements) {
    if (measurement.series == "device_copy")
      ceilings.copy_gigabytes_per_second = measurement.gigabytes_per_second();
    if (measurement.series == "float32_matmul") ceilings.float32_matmul_teraflops = measurement.teraflops();
    if (measurement.series == "bfloat16_matmul") ceilings.bfloat16_matmul_teraflops = measurement.teraflops();
  }
  if (!(ceilings.copy_gigabytes_per_second > 0)) throw std::runtime_error("the copy was not measured");
  if (ceilings.float32_matmul_teraflops && ceilings.bfloat16_matmul_teraflops) {
    ceilings.why_no_matmul.clear();
    return ceilings;
  }
  for (const LeftOut& one : results.left_out)
    if (one.series == "float32_matmul" || one.series == "bfloat16_matmul")
      ceilings.why_no_matmul = one.reason;
  return ceilings;
}

const char* unit_name(Unit unit) { return unit == Unit::float32 ? "float32" : "tensor cores"; }

const char* limit_name(Limit limit) { return limit == Limit::bytes ? "bytes" : "operations"; }

Floor floor_of(const Measurement& measurement, const Ceilings& ceilings) {
  const double for_bytes = measurement.bytes / ceilings.copy_gigabytes_per_second * 1e-6;
  const auto& teraflops = measurement.unit == Unit::float32 ? ceilings.float32_matmul_teraflops
                                                            : ceilings.bfloat16_matmul_teraflops;
  if (!teraflops) return {Limit::bytes, for_bytes};
  const double for_operations = measurement.operations / *teraflops * 1e-9;
  return for_operations > for_bytes ? Floor{Limit::operations, for_operations}
                                    : Floor{Limit::bytes, for_bytes};
}

std::optional<GpuReading> parse_gpu_reading(std::string_view answer) {
  const std::string_view line = answer.substr(0, answer.find('\n'));
  if (std::count(line.begin(), line.end(), ',') != 3) return std::nullopt;
  std::array<std::optional<double>, 4> numbers;
  std::size_t begin = 0;
  for (auto& number : numbers) {
    const std::size_t end = std::min(line.find(',', begin), line.size());
    number = as_number(line.substr(begin, end - begin));
    begin = end + 1;
  }
  if (std::none_of(numbers.begin(), numbers.end(), [](const auto& number) { return number.has_value(); }))
    return std::nullopt;
  return GpuReading{numbers[0], numbers[1], numbers[2], numbers[3]};
}

}  // namespace course::grading
