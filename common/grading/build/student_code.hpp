#pragma once
/// @file
/// What can be told of a .cu file that does not compile: its lines, words, blocks and functions.

#include <string>
#include <string_view>
#include <vector>

namespace course::grading {

/// What lies between a '{' and its '}'.
struct Block {
  enum class Kind { name_space, type, function, other };
  Kind kind = Kind::other;
  int head_line = 0;  ///< where the declaration or statement begins that the '{' belongs to
  int open_line = 0;
  int close_line = 0;        ///< 0: never closed
  std::string name{};        ///< of a namespace or a function
  std::string parameters{};  ///< of a function: "(const float* a, int64_t n)"
  bool kernel = false;
  bool holds(int line) const { return head_line <= line && (close_line == 0 || line <= close_line); }
};

/// A name or keyword.
struct Word {
  std::string_view text;
  std::size_t at = 0;  ///< index in StudentCode::text()
  int line = 0;
};

class StudentCode {
 public:
  explicit StudentCode(std::string_view source);
  StudentCode(const StudentCode&) = delete;  // its words point into its text
  StudentCode& operator=(const StudentCode&) = delete;

  /// The source with blanks in place of comments, literals and directives, character by character.
  const std::string& text() const { return text_; }
  const std::vector<Word>& words() const { return words_; }
  const std::vector<Block>& blocks() const { return blocks_; }  ///< in the order of their '{'

  /// Line `number`, from 1, as text() has it; empty outside the file.
  std::string_view line(int number) const;
  int last_line() const;              ///< the last one with code, or 1
  int line_before(int number) const;  ///< the last one with code before line `number`; 0 if there is none
  int surplus_brace() const { return surplus_brace_; }  ///< line of the first '}' without a '{', or 0

  /// The innermost function around the line, or nullptr.
  const Block* function_around(int line) const;
  /// The last function of that name, or nullptr.
  const Block* function_named(std::string_view name) const;

  /// What stands in front of the word and behind it, blanks left out; 0 at either end of the file.
  char before(const Word& word) const;
  char behind(const Word& word) const;

 private:
  void find_words();
  void find_blocks();

  std::string text_;
  std::vector<std::size_t> line_starts_;
  std::vector<Word> words_;
  std::vector<Block> blocks_;
  int surplus_brace_ = 0;
};

/// True for what names are made of.
bool is_name_character(char c);

/// True if `word` stands in the text as a word of its own.
bool has_word(std::string_view text, std::string_view word);

/// The word that ends in front of text[end], perhaps with blanks between; empty if something else does,
/// or if there is no text[end - 1].
std::string_view word_before(std::string_view text, std::size_t end);

/// The text without its blanks.
std::string without_blanks(std::string_view text);

/// The text with each run of white space as one blank.
std::string collapse(std::string_view text);

/// "(const float* a, int64_t n)" as `code`, without comments, declares it for the function `name`; empty if
/// it does not.
std::string parameters_of(const std::string& code, const std::string& name);

}  // namespace course::grading
