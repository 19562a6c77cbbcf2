#include "grading/build/compile_advice.hpp"

#include <algorithm>
#include <array>

#include "grading/build/advice_rules.hpp"

namespace course::grading {
namespace advice {

bool Situation::says_one_of(std::initializer_list<std::string_view> choices) const {
  return std::any_of(choices.begin(), choices.end(), [&](std::string_view words) { return says(words); });
}

bool Situation::notes(std::string_view words) const {
  return says(words) ||
         std::any_of(error.details.begin(), error.details.end(),
                     [&](const std::string& detail) { return detail.find(words) != std::string::npos; });
}

std::string Situation::quoted(int index) const {
  std::string_view rest = error.text;
  for (;; --index) {
    const auto begin = rest.find_first_of("'\"");
    if (begin == std::string_view::npos) return "";
    const auto end = rest.find(rest[begin], begin + 1);
    if (end == std::string_view::npos) return "";
    std::string_view inside = rest.substr(begin + 1, end - begin - 1);
    constexpr std::string_view kNamespace = "course::";
    if (inside.starts_with(kNamespace)) inside.remove_prefix(kNamespace.size());
    if (index == 0) return std::string(inside);
    rest.remove_prefix(end + 1);
  }
}

}  // namespace advice

namespace {

struct AdviceRule {
  AdviceSummary summary;
  advice::Sentence (*sentence)(const advice::Situation&);
};

// The first rule that knows an error has the last word, so the special ones come first.
constexpr std::array kRules = {
    AdviceRule{{"missing_brace", "a `}` is missing, or a function is defined inside another one"},
               advice::missing_brace},
    AdviceRule{{"surplus_brace", "a `}` too many, which ends a function or `namespace course` early"},
               advice::surplus_brace},
    AdviceRule{{"launch_brackets", "`<<<` or `>>>` with a bracket missing or a space inside"},
               advice::launch_brackets},
    AdviceRule{{"launch_without_brackets", "a kernel called without `<<<blocks, threads>>>`"},
               advice::launch_without_brackets},
    AdviceRule{{"launch_of_a_function", "`<<<...>>>` after a function that is no `__global__` function"},
               advice::launch_of_a_function},
    AdviceRule{{"launch_has_no_value", "a launch inside `CUDA_CHECK()` or after a `=`"},
               advice::launch_has_no_value},
    AdviceRule{
        {"launch_configuration", "a value between `<<<` and `>>>` that is neither a number nor a `dim3`"},
        advice::launch_configuration},
    AdviceRule{
        {"launch_arguments", "a launch with too few, too many or other arguments than the kernel takes"},
        advice::launch_arguments},
    AdviceRule{{"missing_semicolon", "a `;` is missing"}, advice::missing_semicolon},
    AdviceRule{{"loop_over_pointer", "a `for` over the elements of what is a pointer"},
               advice::loop_over_pointer},
    AdviceRule{{"wrong_header", "a header that does not exist"}, advice::wrong_header},
    AdviceRule{{"missing_feature", "a part of CUDA that the simulator leaves out"}, advice::missing_feature},
    AdviceRule{{"used_after_its_block", "a name that is used past the end of its block or loop"},
               advice::used_after_its_block},
    AdviceRule{{"used_before", "a function that is used above its definition"}, advice::used_before},
    AdviceRule{{"missing_include", "a missing `#include`"}, advice::missing_include},
    AdviceRule{{"misspelt_name", "`threadIDx`, `__syncthread()` or another misspelt name"},
               advice::misspelt_name},
    AdviceRule{{"missing_type", "a variable without a type in front of it"}, advice::missing_type},
    AdviceRule{{"name_of_another_function", "a variable of the host function used in the kernel"},
               advice::name_of_another_function},
    AdviceRule{{"unknown_name", "a name that nothing declares"}, advice::unknown_name},
    AdviceRule{{"axis_missing", "`threadIdx` without `.x`"}, advice::axis_missing},
    AdviceRule{{"axis_misspelt", "`blockDim.X`"}, advice::axis_misspelt},
    AdviceRule{{"index_missing", "a pointer without `[i]` in a calculation, or a `float` as an index"},
               advice::index_missing},
    AdviceRule{
        {"write_to_const", "an assignment to what is `const`, such as an output declared `const float*`"},
        advice::write_to_const},
    AdviceRule{{"view_of_const", "a `View<float, 2>` for what is const, or the other way round"},
               advice::view_of_const},
    AdviceRule{{"view_index", "a `View` with square brackets"}, advice::view_index},
    AdviceRule{{"typename_missing", "a type of a template parameter without `typename`"},
               advice::typename_missing},
    AdviceRule{{"lambda_capture", "a lambda without `[=]` that uses a variable around it"},
               advice::lambda_capture},
    AdviceRule{{"kernel_returns", "a kernel that returns a value"}, advice::kernel_returns},
    AdviceRule{{"shared_size", "a `__shared__` array whose size is no constant"}, advice::shared_size},
    AdviceRule{{"array_size", "an array in a kernel whose size is no constant"}, advice::array_size},
    AdviceRule{{"shared_types", "two `extern __shared__` arrays of one name and different types"},
               advice::shared_types},
    AdviceRule{{"host_code_in_kernel", "a kernel that calls a function of the host"},
               advice::host_code_in_kernel},
    AdviceRule{{"device_code_on_host", "host code that calls a `__device__` function"},
               advice::device_code_on_host},
    AdviceRule{{"host_variable_in_kernel", "a kernel that reads a global variable of the host"},
               advice::host_variable_in_kernel},
    AdviceRule{{"mixed_types", "`std::min(a, b)` or `std::max(a, b)` of two types"}, advice::mixed_types},
    AdviceRule{{"tile_shape", "an accumulator or a tile of another shape than `multiply_add<Shape>` takes"},
               advice::tile_shape},
    AdviceRule{{"template_argument", "`max_block(...)` where it has to be `max_block<kBlockThreads>(...)`"},
               advice::template_argument},
    AdviceRule{{"call_form", "`cudaMalloc`, `cudaMemcpy`, `atomicAdd` or a shuffle with the wrong arguments"},
               advice::call_form},
    AdviceRule{{"const_dropped", "a `float*` that is to point where a `const float*` points"},
               advice::const_dropped},
    AdviceRule{{"defined_twice", "two drafts of one function, or a constant of the contract declared again"},
               advice::defined_twice},
    AdviceRule{{"outside_namespace", "a function of the contract outside `namespace course`"},
               advice::outside_namespace},
    AdviceRule{{"other_declaration", "a function of the contract with another result, or `static`"},
               advice::other_declaration},
};

constexpr auto kSummaries = [] {
  std::array<AdviceSummary, kRules.size()> summaries{};
  for (std::size_t i = 0; i < kRules.size(); ++i) summaries[i] = kRules[i].summary;
  return summaries;
}();

}  // namespace

Advice advise(const CompileError& error, const StudentCode& code, const Lesson& lesson) {
  const advice::Situation situation{error, code, lesson, code.line(error.line)};
  for (const AdviceRule& rule : kRules)
    if (const auto sentence = rule.sentence(situation)) return {rule.summary.name, *sentence};
  return {};
}

std::span<const AdviceSummary> advice_summaries() { return kSummaries; }

}  // namespace course::grading
