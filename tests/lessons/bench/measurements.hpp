#pragma once
/// @file
/// What a benchmark tells `./course bench`: options, the machine, and all measurements in one form, a line of
/// JSON for each, written as soon as it is known.

#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "device/cuda_check.hpp"

namespace course::bench {

/// What the command line of a benchmark may say.
struct Options {
  bool flush = false;    ///< --flush: the L2 cache is overwritten before each call that is timed
  bool profile = false;  ///< --profile: of each measurement one call, behind one to warm up, for a profiler
                         ///< that waits for cudaProfilerStart()
  std::string only;      ///< --only "SERIES LABEL": makes this measurement alone, with those that the program
                         ///< makes together with it; empty: all
  std::FILE* lines = nullptr;  ///< --lines FILE: gets a line for each measurement
};
inline Options& options() {
  static Options instance;
  return instance;
}

/// The unit of a multiprocessor that does the multiply-adds of a kernel; its rate bounds them.
enum class Unit { float32, tensor_cores };

/// The median of so many repetitions.
struct Timing {
  double milliseconds;
  int repetitions;
};

/// @brief Sizes and settings of a measurement, in the order in which they were added.
class Shape {
 public:
  Shape& size(const char* name, std::int64_t value) {
    return add(name, std::to_string(value), value == 0 ? "" : name + ("=" + std::to_string(value)));
  }
  Shape& fraction(const char* name, double value) {
    char text[32];
    std::snprintf(text, sizeof(text), "%g", value);
    return add(name, text, value == 0 ? "" : std::string(name) + "=" + text);
  }
  Shape& flag(const char* name, bool value) { return add(name, value ? "true" : "false", value ? name : ""); }
  Shape& none(const char* name) { return add(name, "null", ""); }

  /// "\"N\": 1024, \"causal\": true", and a comma behind it for more to follow.
  std::string json(bool more_follow = false) const {
    return json_.empty() || !more_follow ? json_ : json_ + ", ";
  }
  /// "N=1024 causal": without what is 0, false or null.
  const std::string& label() const { return label_; }

  /// With other words as label.
  Shape& labelled(const std::string& label) {
    label_ = label;
    return *this;
  }
  Shape& append(const Shape& more) { return add_words(more.json_, more.label_); }

 private:
  Shape& add(const std::string& name, const std::string& value, const std::string& word) {
    return add_words("\"" + name + "\": " + value, word);
  }
  Shape& add_words(const std::string& json, const std::string& label) {
    if (!json_.empty() && !json.empty()) json_ += ", ";
    if (!label_.empty() && !label.empty()) label_ += " ";
    json_ += json;
    label_ += label;
    return *this;
  }

  std::string json_, label_;
};

/// Names and values of what was measured where and when.
inline std::vector<std::pair<const char*, std::string>> machine_facts() {
  int runtime = 0;
  cudaDeviceProp device{};
  CUDA_CHECK(cudaRuntimeGetVersion(&runtime));
  CUDA_CHECK(cudaGetDeviceProperties(&device, 0));
  std::string driver;  // which the CUDA runtime does not tell
  std::ifstream("/sys/module/nvidia/version") >> driver;
  char date[11];
  const std::time_t now = std::time(nullptr);
  std::strftime(date, sizeof(date), "%Y-%m-%d", std::gmtime(&now));
  return {{"gpu", device.name},
          {"driver", driver.empty() ? "unknown" : driver},
          {"cuda", std::to_string(runtime / 1000) + "." + std::to_string(runtime % 1000 / 10)},
          {"date", date}};
}

/// One object of JSON to the file of --lines, if there is one; whoever watches sees it at once.
inline void write_line(const std::string& object) {
  if (options().lines == nullptr) return;
  std::fprintf(options().lines, "%s\n", object.c_str());
  std::fflush(options().lines);
}

/// The first line: the machine, with what tells one device from another.
inline void write_machine_line() {
  cudaDeviceProp device{};
  char bus[32] = "";
  CUDA_CHECK(cudaGetDeviceProperties(&device, 0));
  CUDA_CHECK(cudaDeviceGetPCIBusId(bus, sizeof(bus), 0));
  std::string line = "{";
  for (const auto& [name, value] : machine_facts())
    line += "\"" + std::string(name) + "\": \"" + value + "\", ";
  Shape numbers;
  numbers.size("multiprocessors", device.multiProcessorCount)
      .size("memory_bytes", static_cast<std::int64_t>(device.totalGlobalMem))
      .size("l2_bytes", device.l2CacheSize);
  line += "\"compute_capability\": \"" + std::to_string(device.major) + "." + std::to_string(device.minor) +
          "\", \"pci_bus_id\": \"" + bus + "\", " + numbers.json() + "}";
  write_line(line);
}

/// Whether --only asks for this measurement, or for none in particular.
inline bool wanted(const std::string& series, const Shape& shape) {
  return options().only.empty() || options().only == series + " " + shape.label();
}

/// @brief Reads the command line; the first thing that a benchmark does.
/// @throws std::invalid_argument, std::runtime_error
inline void read_options(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--flush") == 0) {
      options().flush = true;
    } else if (std::strcmp(argv[i], "--profile") == 0) {
      options().profile = true;
    } else if (std::strcmp(argv[i], "--only") == 0 && i + 1 < argc) {
      options().only = argv[++i];
    } else if (std::strcmp(argv[i], "--lines") == 0 && i + 1 < argc) {
      options().lines = std::fopen(argv[++i], "w");
      if (options().lines == nullptr) throw std::runtime_error(std::string("cannot write ") + argv[i]);
    } else {
      throw std::invalid_argument(std::string(argv[i]) +
                                  ": options are --flush, --profile, --only MEASUREMENT and --lines FILE");
    }
  }
  if (options().lines != nullptr) write_machine_line();
}

/// Lines of JSON, without line ends, in the order of the measurements.
inline std::vector<std::string>& measured_lines() {
  static std::vector<std::string> lines;
  return lines;
}
inline std::vector<std::string>& left_out_lines() {
  static std::vector<std::string> lines;
  return lines;
}

/// @brief Keeps a measurement. `series`: what was measured, as a name; `operations` and `bytes`: what the
/// problem needs at least; `unit`: what does the operations. Bytes are those that must come from or go to
/// device memory once the caches are empty; docs/results/README.md has the formulas.
inline void record(const std::string& series, const Shape& shape, Timing timing, double operations,
                   double bytes, Unit unit = Unit::float32) {
  char numbers[200];
  std::snprintf(numbers, sizeof(numbers),
                "\"milliseconds\": %.5f, \"repetitions\": %d, \"operations\": %.0f, \"unit\": \"%s\", "
                "\"bytes\": %.0f",
                timing.milliseconds, timing.repetitions, operations,
                unit == Unit::float32 ? "float32" : "tensor cores", bytes);
  measured_lines().push_back("{\"series\": \"" + series + "\", \"label\": \"" + shape.label() +
                             "\", \"shape\": {" + shape.json() + "}, " + numbers + "}");
  write_line(measured_lines().back());
}

/// Bytes of device memory that arrays may take; some are left for kernels, libraries and flush_caches().
inline double free_bytes() {
  constexpr double kKept = 512.0 * (1 << 20);
  std::size_t free = 0, total = 0;
  CUDA_CHECK(cudaMemGetInfo(&free, &total));
  return static_cast<double>(free) - kKept;
}

/// Keeps the name of what was not measured, and why, in words without quotes.
inline void leave_out(const std::string& series, const std::string& label, const std::string& reason) {
  left_out_lines().push_back("{\"series\": \"" + series + "\", \"label\": \"" + label +
                             "\", \"left_out\": \"" + reason + "\"}");
  write_line(left_out_lines().back());
}

/// The same, for want of device memory.
inline void leave_out(const std::string& series, const std::string& label, double bytes) {
  char reason[120];
  std::snprintf(reason, sizeof(reason), "needs %.2f GB of device memory, and %.2f GB can be had",
                bytes * 1e-9, free_bytes() * 1e-9);
  leave_out(series, label, std::string(reason));
}

/// @brief Whether arrays of so many bytes fit into the device's memory. If not, the shape is left out.
inline bool fits(const std::string& series, const Shape& shape, double bytes) {
  if (bytes <= free_bytes()) return true;
  leave_out(series, shape.label(), bytes);
  return false;
}

/// A member of the JSON object on standard output, a line for each of the list.
inline void print_list(const char* name, const std::vector<std::string>& lines, const char* end) {
  std::printf("  \"%s\": [", name);
  const char* separator = "\n    ";
  for (const std::string& line : lines) {
    std::printf("%s%s", separator, line.c_str());
    separator = ",\n    ";
  }
  std::printf("%s]%s", lines.empty() ? "" : "\n  ", end);
}

}  // namespace course::bench
