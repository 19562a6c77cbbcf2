#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "bench_lines.hpp"
#include "cli/staff/bench_report.hpp"
#include "support/catch.hpp"

using namespace course::cli;
using namespace course::grading;
using Catch::Matchers::ContainsSubstring;
using course::test::kMachine, course::test::kOne;

namespace {

Measurement measured(double milliseconds, double operations, double bytes,
                     const std::string& label = "N=1024 D=64") {
  return {.series = "flash2_forward",
          .label = label,
          .shape = {{"N", 1024}},
          .milliseconds = milliseconds,
          .repetitions = 20,
          .operations = operations,
          .bytes = bytes};
}

/// 4000 GB/s, 50 TFLOP/s, and 800 on tensor cores.
BenchCeilings ceilings(bool with_matmul = true) {
  BenchCeilings result;
  result.machine = parse_benchmark(kMachine).machine;
  result.rates.copy_gigabytes_per_second = 4000;
  if (with_matmul) {
    result.rates.float32_matmul_teraflops = 50;
    result.rates.bfloat16_matmul_teraflops = 800;
  } else {
    result.rates.why_no_matmul = "the CUDA toolkit has no cuBLAS";
  }
  return result;
}

LessonBench bench(std::vector<Measurement> measurements) {
  LessonBench result;
  result.lesson.number = 9;
  result.lesson.name = "flash2_forward";
  result.lesson.title = "FlashAttention-2, forward";
  result.kernel = "solution";
  result.status = BenchStatus::timed;
  result.results.measurements = std::move(measurements);
  return result;
}

std::size_t longest_line(const std::string& text) {
  std::istringstream lines(text);
  std::size_t longest = 0;
  for (std::string line; std::getline(lines, line);) longest = std::max(longest, columns_of(line));
  return longest;
}

/// The text with single spaces for line breaks.
std::string unwrapped(const std::string& text) {
  std::istringstream words(text);
  std::string result;
  for (std::string word; words >> word;) result += (result.empty() ? "" : " ") + word;
  return result;
}

}  // namespace

TEST_CASE("reads what a benchmark measured, and that it came to its end", "[cli][bench]") {
  const std::string left_out = R"({"series": "matmul", "label": "M=8192", "left_out": "needs 8 GB"})"
                               "\n";
  const BenchmarkResults results =
      parse_benchmark(std::string(kMachine) + kOne + left_out + "{\"done\": true}\n");
  CHECK(results.machine.at("gpu") == "NVIDIA H200");
  REQUIRE(results.measurements.size() == 1);
  const Measurement& one = results.measurements.front();
  CHECK(one.series == "flash2_forward");
  CHECK(one.label == "N=1024 D=64");
  CHECK(one.shape.at("D") == 64);
  CHECK(one.milliseconds == 0.5);
  CHECK(one.repetitions == 20);
  CHECK(one.operations == 17179869184.0);
  CHECK(one.unit == Unit::float32);
  CHECK(one.bytes == 67371008);
  REQUIRE(results.left_out.size() == 1);
  CHECK(results.left_out.front().label == "M=8192");
  CHECK(results.left_out.front().reason == "needs 8 GB");
  CHECK(results.complete);
}

TEST_CASE("reads a benchmark that is still running up to its last whole line", "[cli][bench]") {
  const BenchmarkResults results = parse_benchmark(std::string(kMachine) + kOne + "{\"series\": \"fla");
  CHECK(results.measurements.size() == 1);
  CHECK_FALSE(results.complete);
  CHECK(parse_benchmark("").measurements.empty());
}

TEST_CASE("names the line that no benchmark wrote", "[cli][bench]") {
  CHECK_THROWS_WITH(parse_benchmark(std::string(kMachine) + "hello\n"), ContainsSubstring("line 2"));
  std::string timeless = kOne;
  timeless.replace(timeless.find("0.5,"), 4, "0.0,");
  CHECK_THROWS_WITH(parse_benchmark(timeless), ContainsSubstring("line 1"));
  std::string of_no_unit = kOne;
  of_no_unit.replace(of_no_unit.find("\"float32\""), 9, "\"abacus\"");
  CHECK_THROWS_WITH(parse_benchmark(of_no_unit), ContainsSubstring("no unit 'abacus'"));
}

TEST_CASE("takes the ceilings from their benchmark, and says why one is missing", "[cli][bench]") {
  BenchmarkResults results;
  CHECK_THROWS(ceilings_of(results));
  Measurement copy = measured(2, 0, 8e9), matmul = measured(20, 1e15, 1), on_tensor_cores = matmul;
  copy.series = "device_copy";
  matmul.series = "float32_matmul";
  on_tensor_cores.series = "bfloat16_matmul";
  results.measurements = {copy};
  results.left_out = {{"float32_matmul", "", "the CUDA toolkit has no cuBLAS"}};
  CHECK(ceilings_of(results).copy_gigabytes_per_second == Approx(4000));
  CHECK_FALSE(ceilings_of(results).float32_matmul_teraflops);
  CHECK(ceilings_of(results).why_no_matmul == "the CUDA toolkit has no cuBLAS");
  results.measurements.push_back(matmul);
  CHECK(ceilings_of(results).float32_matmul_teraflops.value() == Approx(50000));
  CHECK_FALSE(ceilings_of(results).bfloat16_matmul_teraflops);
  CHECK_FALSE(ceilings_of(results).why_no_matmul.empty());
  results.measurements.push_back(on_tensor_cores);
  CHECK(ceilings_of(results).bfloat16_matmul_teraflops.value() == Approx(50000));
  CHECK(ceilings_of(results).why_no_matmul.empty());
}

TEST_CASE("the floor is the longer of bytes at a copy's rate and operations at a product's", "[cli][bench]") {
  const Ceilings rates = ceilings().rates;
  const Floor by_operations = floor_of(measured(1, 25e9, 1e9), rates);  // 0.5 ms and 0.25 ms
  CHECK(by_operations.limit == Limit::operations);
  CHECK(by_operations.milliseconds == Approx(0.5));
  const Floor by_bytes = floor_of(measured(1, 25e9, 4e9), rates);
  CHECK(by_bytes.limit == Limit::bytes);
  CHECK(by_bytes.milliseconds == Approx(1));
}

TEST_CASE("what tensor cores multiply is held against their rate", "[cli][bench]") {
  const Ceilings rates = ceilings().rates;
  Measurement one = measured(1, 400e9, 1e9);
  CHECK(floor_of(one, rates).milliseconds == Approx(8));
  one.unit = Unit::tensor_cores;
  CHECK(floor_of(one, rates).limit == Limit::operations);
  CHECK(floor_of(one, rates).milliseconds == Approx(0.5));
}

TEST_CASE("without cuBLAS only bytes make a floor", "[cli][bench]") {
  const Floor floor = floor_of(measured(1, 25e12, 1e9), ceilings(false).rates);
  CHECK(floor.limit == Limit::bytes);
  CHECK(floor.milliseconds == Approx(0.25));
  const Terminal terminal;
  const std::string text = render_ceilings(terminal, ceilings(false));
  CHECK_THAT(unwrapped(text), ContainsSubstring("no cuBLAS"));
  CHECK(text.find("TFLOP/s") == std::string::npos);
}

TEST_CASE("reads clocks, power and temperature, and what nvidia-smi does not know", "[cli][bench]") {
  const auto reading = parse_gpu_reading("1980, 3201, 512.33, 48\n");
  REQUIRE(reading);
  CHECK(reading->sm_megahertz == 1980.0);
  CHECK(reading->memory_megahertz == 3201.0);
  CHECK(reading->watts == 512.33);
  CHECK(reading->celsius == 48.0);
  const auto partial = parse_gpu_reading("1980, [N/A], [Not Supported], 48\n");
  REQUIRE(partial);
  CHECK_FALSE(partial->memory_megahertz);
  CHECK_FALSE(partial->watts);
  CHECK(partial->celsius == 48.0);
  CHECK_FALSE(parse_gpu_reading("No devices were found\n"));
  CHECK_FALSE(parse_gpu_reading("[N/A], [N/A], [N/A], [N/A]\n"));
  CHECK_FALSE(parse_gpu_reading(""));
}

TEST_CASE("a time has four digits", "[cli][bench]") {
  CHECK(duration_text(0.01234) == "12.34 us");
  CHECK(duration_text(0.5045) == "0.5045 ms");
  CHECK(duration_text(7.5534) == "7.553 ms");
  CHECK(duration_text(29.8826) == "29.88 ms");
  CHECK(duration_text(117.2387) == "117.2 ms");
  CHECK(duration_text(1234.5) == "1.234 s");
}

TEST_CASE("the table has shape, time, rate, floor and share", "[cli][bench]") {
  const Terminal terminal;
  const std::string text = render_bench(
      terminal, bench({measured(1, 25e9, 1e9), measured(2, 25e9, 4e9, "N=4096 D=64")}), ceilings());
  CHECK_THAT(text, ContainsSubstring("09 FlashAttention-2, forward (worked solution)"));
  CHECK_THAT(text, ContainsSubstring("N=1024 D=64"));
  CHECK_THAT(text, ContainsSubstring(" 1.000 ms  25.00 TFLOP/s  0.5000 ms ops     50 %\n"));
  CHECK_THAT(text, ContainsSubstring(" 2.000 ms      2000 GB/s   1.000 ms bytes   50 %\n"));
}

TEST_CASE("the table stays within 80 columns, whatever the label", "[cli][bench]") {
  const Terminal terminal;
  LessonBench wide = bench({measured(1, 25e9, 1e9, "N=16384 D=128 H=16 window=256 sinks=4 learned"),
                            measured(5e6, 1e15, 1e12, std::string(200, 'x'))});
  wide.results.left_out = {{"flash2_forward", "N=65536 D=128", "needs 34.36 GB of device memory"}};
  wide.before = GpuReading{345, 2619, 98.2, 33};
  wide.after = GpuReading{1980, 3201, 698.5, std::nullopt};
  wide.status = BenchStatus::error;
  wide.reason = "It was ended by signal 11 behind flash2_forward N=16384 D=128 H=16 window=256.";
  const std::string text = render_bench(terminal, wide, ceilings());
  CHECK(longest_line(text) <= 80);
  CHECK(longest_line(render_ceilings(terminal, ceilings())) <= 80);
  CHECK_THAT(unwrapped(text), ContainsSubstring("Left out: flash2_forward N=65536 D=128: needs 34.36 GB"));
  CHECK_THAT(unwrapped(text), ContainsSubstring("before 345 MHz, 98 W, 33 C; after 1980 MHz"));
  CHECK_THAT(unwrapped(text), ContainsSubstring("ended by signal 11"));
}

TEST_CASE("a kernel that fails its tests gets a sentence and no table", "[cli][bench]") {
  LessonBench failed = bench({});
  failed.status = BenchStatus::failed;
  failed.reason = "not timed, since 3 of its 24 test cases fail.";
  failed.advice = "./course check 09 --backend gpu says why.";
  const Terminal terminal;
  const std::string text = render_bench(terminal, failed, ceilings());
  CHECK(text.find("floor") == std::string::npos);
  CHECK_THAT(unwrapped(text), ContainsSubstring("3 of its 24 test cases fail. ./course check"));
}

TEST_CASE("the JSON object has the machine, the ceilings and every measurement", "[cli][bench]") {
  LessonBench timed = bench({measured(1, 25e9, 1e9)});
  timed.before = GpuReading{345, 2619, std::nullopt, 33};
  LessonBench failed = bench({});
  failed.status = BenchStatus::failed;
  failed.reason = "not timed, since 3 of its 24 test cases fail.";
  failed.advice = "./course check 09 --file /home/ada/idea.cu --backend gpu says why.";
  const auto json = bench_json("./course bench 09 --backend gpu", ceilings(), {timed, failed});
  CHECK(json.at("gpu") == "NVIDIA H200");
  CHECK(json.at("date") == "2026-11-22");
  CHECK(json.at("ceilings").at("device_copy_gigabytes_per_second") == 4000);
  CHECK(json.at("ceilings").at("float32_matmul_teraflops") == 50);
  const auto& lesson = json.at("lessons").at(0);
  CHECK(lesson.at("kernel") == "solution");
  CHECK(lesson.at("status") == "timed");
  CHECK(lesson.at("clocks").at("before").at("sm_megahertz") == 345);
  CHECK(lesson.at("clocks").at("before").at("watts").is_null());
  CHECK(lesson.at("clocks").at("after").is_null());
  const auto& one = lesson.at("measurements").at(0);
  CHECK(one.at("milliseconds") == 1);
  CHECK(one.at("teraflops").get<double>() == Approx(25));
  CHECK(one.at("gigabytes_per_second").get<double>() == Approx(1000));
  CHECK(one.at("floor").at("limit") == "operations");
  CHECK(one.at("floor_share").get<double>() == Approx(0.5));
  CHECK(json.at("lessons").at(1).at("status") == "failed");
  CHECK(json.dump().find("/home") == std::string::npos);
  CHECK(json.dump().find("0000:18") == std::string::npos);
  failed.kernel = "\xff.cu";  // a name that is not UTF-8
  CHECK_THAT(bench_text("", ceilings(), {failed}), ContainsSubstring(".cu"));
}
