#include "grading/testing/run.hpp"

#include <fmt/format.h>

#include <system_error>

#include "grading/facts/poison.hpp"
#include "tensor/format.hpp"
#include "tensor/npy.hpp"

namespace course::grading {
namespace {

RunFunction& run_slot() {
  static RunFunction function = nullptr;
  return function;
}

}  // namespace

RunContext::RunContext(std::filesystem::path in, std::filesystem::path out,
                       std::map<std::string, std::string> settings)
    : Settings(std::move(settings)), in_(std::move(in)), out_(std::move(out)) {}

std::filesystem::path RunContext::file_of(std::string_view name) const {
  return in_ / fmt::format("{}.npy", name);
}

bool RunContext::has_input(std::string_view name) const {
  std::error_code ignored;
  return std::filesystem::exists(file_of(name), ignored);
}

Format16 RunContext::input_format(std::string_view name) const {
  const std::filesystem::path file = file_of(name);
  try {
    const std::string dtype = peek_npy(file).dtype;
    if (dtype == "float16") return Format16::float16;
    if (dtype == "uint16" || dtype == "int16" || dtype.ends_with("V2")) return Format16::bfloat16;
    throw RunError(
        fmt::format("{} holds {} values; the lesson wants float16, or bfloat16 as words of 16 bits.",
                    file.string(), dtype),
        true);
  } catch (const NpyError& error) {
    throw RunError(error.what(), true);
  }
}

template <class T>
Tensor<T> RunContext::input(std::string_view name, const std::vector<std::string>& dimensions) {
  const std::filesystem::path file = file_of(name);
  if (!has_input(name))
    throw RunError(fmt::format("{} is missing: the lesson reads its array {}({}) from it.", file.string(),
                               name, fmt::join(dimensions, ", ")),
                   true);
  Tensor<T> tensor;
  try {
    tensor = read_npy<T>(file);
  } catch (const NpyError& error) {
    throw RunError(error.what(), true);
  }
  if (tensor.shape().size() != dimensions.size())
    throw RunError(fmt::format("{} has shape {}; the lesson wants ({}).", file.string(),
                               format_shape(tensor.shape()), fmt::join(dimensions, ", ")),
                   true);
  for (std::size_t axis = 0; axis < dimensions.size(); ++axis) {
    const Dimension here{tensor.shape()[axis], file.filename().string()};
    const auto [known, added] = dimensions_.try_emplace(dimensions[axis], here);
    if (!added && known->second.size != here.size)
      throw RunError(
          fmt::format("{} is {} in {} but {} in {}; it must be the same in both.", dimensions[axis],
                      known->second.size, known->second.from, here.size, here.from),
          true);
  }
  return tensor;
}

void RunContext::insist(const Outcome& outcome) {
  if (const std::string why = why_not_clean(outcome); !why.empty()) throw RunError(why, false);
}

template <class T>
void RunContext::output(std::string_view name, const Tensor<T>& tensor) {
  std::int64_t written = 0;
  for (std::int64_t i = 0; i < tensor.numel(); ++i) written += is_poison(tensor.at_linear(i)) ? 0 : 1;
  if (written < tensor.numel())
    throw RunError(written == 0 ? fmt::format("Your code never wrote {}.", name)
                                : fmt::format("Your code wrote only {} of {} elements of {}.", written,
                                              tensor.numel(), name),
                   false);
  const std::filesystem::path file = out_ / fmt::format("{}.npy", name);
  try {
    std::filesystem::create_directories(out_);
    write_npy(file, tensor);
  } catch (const std::filesystem::filesystem_error& error) {
    throw RunError(fmt::format("cannot create the folder {}: {}.", out_.string(), error.code().message()),
                   true);
  } catch (const NpyError& error) {
    throw RunError(error.what(), true);
  }
  fmt::print("{} {} is in {}\n", name, format_shape(tensor.shape()), file.string());
  if (!kNpyRemark<T>.empty()) fmt::print("{}\n", kNpyRemark<T>);
}

bool register_run(RunFunction function) {
  run_slot() = function;
  return true;
}

RunFunction registered_run() { return run_slot(); }

template Tensor<float> RunContext::input(std::string_view, const std::vector<std::string>&);
template Tensor<double> RunContext::input(std::string_view, const std::vector<std::string>&);
template Tensor<bfloat16> RunContext::input(std::string_view, const std::vector<std::string>&);
template Tensor<float16> RunContext::input(std::string_view, const std::vector<std::string>&);
template Tensor<std::int32_t> RunContext::input(std::string_view, const std::vector<std::string>&);
template Tensor<std::int64_t> RunContext::input(std::string_view, const std::vector<std::string>&);
template void RunContext::output(std::string_view, const Tensor<float>&);
template void RunContext::output(std::string_view, const Tensor<double>&);
template void RunContext::output(std::string_view, const Tensor<bfloat16>&);
template void RunContext::output(std::string_view, const Tensor<float16>&);
template void RunContext::output(std::string_view, const Tensor<std::int32_t>&);
template void RunContext::output(std::string_view, const Tensor<std::int64_t>&);

}  // namespace course::grading
