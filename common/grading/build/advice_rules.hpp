#pragma once
/// @file
/// The rules behind advise(). Each gets an error and gives nothing if it is none of its own, else a sentence,
/// which is empty where the compiler's message says it all.

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "grading/build/compile_errors.hpp"
#include "grading/build/student_code.hpp"
#include "grading/project/lesson.hpp"

namespace course::grading::advice {

/// An error and the file that it is in.
struct Situation {
  const CompileError& error;
  const StudentCode& code;
  const Lesson& lesson;
  std::string_view line;  ///< the line of the error, without comments and literals

  bool says(std::string_view words) const { return error.text.find(words) != std::string::npos; }
  bool says_one_of(std::initializer_list<std::string_view> choices) const;
  bool notes(std::string_view words) const;  ///< in the text or in the details
  std::string quoted(int index = 0) const;   ///< what stands in the text's quotes, without "course::"
};

/// The text of the lesson's header, which declares what a student writes; "" if it cannot be read.
std::string contract_of(const Lesson& lesson);

using Sentence = std::optional<std::string>;

// Punctuation and order: advice_syntax.cpp
Sentence missing_brace(const Situation& s);
Sentence surplus_brace(const Situation& s);
Sentence missing_semicolon(const Situation& s);
Sentence loop_over_pointer(const Situation& s);
Sentence wrong_header(const Situation& s);
Sentence defined_twice(const Situation& s);
Sentence outside_namespace(const Situation& s);
Sentence other_declaration(const Situation& s);

// Names that are not declared: advice_names.cpp
Sentence used_after_its_block(const Situation& s);
Sentence used_before(const Situation& s);
Sentence missing_include(const Situation& s);
Sentence misspelt_name(const Situation& s);
Sentence missing_type(const Situation& s);
Sentence name_of_another_function(const Situation& s);
Sentence missing_feature(const Situation& s);
Sentence unknown_name(const Situation& s);

// Launches: advice_launch.cpp
Sentence launch_brackets(const Situation& s);
Sentence launch_without_brackets(const Situation& s);
Sentence launch_of_a_function(const Situation& s);
Sentence launch_has_no_value(const Situation& s);
Sentence launch_configuration(const Situation& s);
Sentence launch_arguments(const Situation& s);

// What kernels may do: advice_kernel.cpp
Sentence axis_missing(const Situation& s);
Sentence axis_misspelt(const Situation& s);
Sentence index_missing(const Situation& s);
Sentence write_to_const(const Situation& s);
Sentence const_dropped(const Situation& s);
Sentence view_of_const(const Situation& s);
Sentence view_index(const Situation& s);
Sentence typename_missing(const Situation& s);
Sentence lambda_capture(const Situation& s);
Sentence kernel_returns(const Situation& s);
Sentence shared_size(const Situation& s);
Sentence array_size(const Situation& s);
Sentence shared_types(const Situation& s);
Sentence host_code_in_kernel(const Situation& s);
Sentence device_code_on_host(const Situation& s);
Sentence host_variable_in_kernel(const Situation& s);
Sentence mixed_types(const Situation& s);
Sentence template_argument(const Situation& s);
Sentence call_form(const Situation& s);
Sentence tile_shape(const Situation& s);

}  // namespace course::grading::advice
