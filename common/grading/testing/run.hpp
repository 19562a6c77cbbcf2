#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "grading/testing/call.hpp"
#include "grading/testing/settings.hpp"
#include "tensor/float16.hpp"
#include "tensor/tensor.hpp"

namespace course::grading {

/// @brief `./course run`: a lesson's kernel on the user's own .npy arrays.
class RunContext : public Settings {
 public:
  RunContext(std::filesystem::path in, std::filesystem::path out,
             std::map<std::string, std::string> settings);

  /// @brief Reads `in`/`name`.npy. Dimensions of the same name must agree between inputs.
  /// T: float, double, bfloat16, float16, int32_t or int64_t.
  /// @throws RunError if the file is missing or its type, rank or dimensions do not fit.
  template <class T>
  Tensor<T> input(std::string_view name, const std::vector<std::string>& dimensions);

  /// @brief Which of the types of 16 bits `in`/`name`.npy has, for kernels that take both: float16, or words
  /// of 16 bits, which are bfloat16.
  /// @throws RunError if the file is missing or holds anything else.
  Format16 input_format(std::string_view name) const;

  /// @brief Whether `in`/`name`.npy is there, for arrays that need not be.
  bool has_input(std::string_view name) const;

  /// @brief Calls an entry and insists on a clean run.
  /// @throws RunError with what went wrong.
  template <class Function, class... Arguments>
  void call(Entry<Function> entry, const Arguments&... arguments) {
    CallOptions options;
    options.timeout_seconds = kTimeoutSeconds;
    options.verify_inputs = false;
    insist(call_in(default_session(), options, entry, arguments...));
  }

  /// @brief Writes `out`/`name`.npy; the file appears complete or not at all. Says where it is, and of
  /// bfloat16 how to read it.
  /// @throws RunError if the entry left elements unwritten, or if the file cannot be written.
  template <class T>
  void output(std::string_view name, const Tensor<T>& tensor);

 private:
  static constexpr double kTimeoutSeconds = 600;  // the user's arrays may be large

  std::filesystem::path file_of(std::string_view name) const;  // of an input
  static void insist(const Outcome& outcome);

  struct Dimension {
    std::int64_t size;
    std::string from;
  };
  std::filesystem::path in_, out_;
  std::map<std::string, Dimension> dimensions_;
};

using RunFunction = void (*)(RunContext&);

/// @brief Makes a function the one that `--run` calls; used by COURSE_RUN.
bool register_run(RunFunction function);

/// @brief The registered function, or nullptr.
RunFunction registered_run();

/// @brief Defines what the run command does for this lesson; one per test file:
/// COURSE_RUN(RunContext& run) { ... }
#define COURSE_RUN(parameter)                                \
  static void course_run_body(parameter);                    \
  [[maybe_unused]] static const bool course_run_registered = \
      ::course::grading::register_run(&course_run_body);     \
  static void course_run_body(parameter)

}  // namespace course::grading
