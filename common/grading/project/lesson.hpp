#pragma once
/// @file
/// The lessons as their lesson.json describes them, and the ways a person may name them.

#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

namespace course::grading {

struct Lesson {
  int number = 0;
  std::string name;   ///< "vector_add"
  std::string title;  ///< "Vector add"
  int part = 0;
  int minutes = 0;         ///< how long the exercise takes
  int points = 0;          ///< sum over the cases of its test
  bool gradients = false;  ///< its tests know what `./course gradcheck` does
  std::vector<std::string> needs;
  std::vector<int> prerequisites;
  std::vector<std::string> entries;  ///< the contract's functions, without namespace
  std::filesystem::path root;        ///< the project's folder

  std::string two_digits() const;  ///< "01"
  std::string id() const;          ///< "01_vector_add", the name of all its folders
  std::filesystem::path folder() const { return root / "lessons" / id(); }
  std::filesystem::path contract() const { return folder() / (name + ".hpp"); }
  std::filesystem::path stub() const { return folder() / (name + ".cu"); }  ///< the student's own file
  /// @brief The stub as the course gives it, made of the solution, whatever has become of the student's file.
  /// @throws std::runtime_error with a sentence if the solution is missing, or is not written as stub.hpp
  /// says.
  std::string pristine_stub() const;
  std::filesystem::path solution() const { return root / "solutions" / id() / (name + ".cu"); }
  std::vector<std::filesystem::path> mutants() const;       ///< sorted by name
  std::vector<std::filesystem::path> alternatives() const;  ///< sorted by name
};

/// @brief Their numbers as a sentence lists them: "03, 07".
std::string numbers_of(const std::vector<Lesson>& lessons);

/// @brief All lessons of the project, in the order of their numbers.
/// @throws std::runtime_error with a sentence that names the file and the field that is wrong.
std::vector<Lesson> read_lessons(const std::filesystem::path& root);

/// No lesson has the name that was given; the message says which ones come near.
class UnknownLesson : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// @brief Picks lessons by number ("9", "09"), name ("vector_add"), folder ("01_vector_add",
/// "lessons/01_vector_add"), range ("1-7", of which at least one must exist) or "all". Each lesson comes
/// once, in the order of its number.
/// @throws UnknownLesson for anything else.
std::vector<Lesson> select_lessons(const std::vector<Lesson>& lessons,
                                   const std::vector<std::string>& selectors);

}  // namespace course::grading
