#pragma once
/// @file
/// One sentence more than the compiler says, for the slips that a first CUDA file usually has.

#include <span>
#include <string>

#include "grading/build/compile_errors.hpp"
#include "grading/build/student_code.hpp"
#include "grading/project/lesson.hpp"

namespace course::grading {

struct Advice {
  std::string rule;      ///< name of the AdviceRule; empty if none knows the error
  std::string sentence;  ///< may be empty: then the compiler has said it well
};

/// @brief What `error` most likely means in a CUDA file, and what to do. Says nothing that is not sure: where
/// a message has two common causes, the sentence names both, or there is none.
/// @param code    the author's file, in which `error` is
/// @param lesson  may be one without a name, for a program that belongs to no lesson
Advice advise(const CompileError& error, const StudentCode& code, const Lesson& lesson);

/// The name of a rule, and the slip that it knows, as docs/grader.md lists it.
struct AdviceSummary {
  const char* name;
  const char* slip;
};

/// All rules, in the order in which they are tried.
std::span<const AdviceSummary> advice_summaries();

}  // namespace course::grading
