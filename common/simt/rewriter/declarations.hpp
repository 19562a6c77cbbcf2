#pragma once

#include "simt/rewriter/sequence.hpp"

namespace simt::rewriter {

/// The innermost `{` around a token, for tokens that are visited from first to last.
class Braces {
 public:
  explicit Braces(const Sequence& tokens) : tokens_(tokens) {}

  /// The `{` around the token at `index`, or kNone. No index is smaller than the one before.
  std::uint32_t around(std::uint32_t index);

 private:
  const Sequence& tokens_;
  std::uint32_t next_ = 0;
  std::vector<std::uint32_t> open_;
};

/// Words of a declaration that have an argument list of their own and are no function's name.
bool is_attribute_word(const Sequence& tokens, std::uint32_t index);

/// The first token of the declaration or statement that the `{` at `brace` belongs to.
std::uint32_t head_begin(const Sequence& tokens, std::uint32_t brace);

/// True if the word at `index` seems to be declared here as something of its own: it follows a type.
bool looks_declared(const Sequence& tokens, std::uint32_t index);

/// True if statements stand behind the `{` at `brace`: it opens neither a namespace nor a class.
bool holds_statements(const Sequence& tokens, std::uint32_t brace);

/// True if the word occurs in the file's code outside of functions.
bool occurs_outside_functions(const Sequence& code, std::string_view word);

/// The name that the tokens [first, last), a type and a declarator, declare; kNone if that cannot be told.
std::uint32_t declared_name(const Sequence& tokens, std::uint32_t first, std::uint32_t last);

/// A function that is declared behind `__global__`; a token that is missing is kNone.
struct KernelDeclaration {
  std::uint32_t name = kNone;
  std::uint32_t open = kNone;  // the '(' of its parameters
  std::uint32_t body = kNone;  // the '{' of its body, if it is defined here
};

/// Reads the declaration in which `__global__` stands at `global`.
KernelDeclaration read_kernel(const Sequence& tokens, std::uint32_t global);

/// The '{' of the body of the function that is declared for the device alone by the `__global__` or
/// `__device__` at `index`; kNone for any other word, and for a function that host code may call as well.
std::uint32_t device_body(const Sequence& tokens, std::uint32_t index);

}  // namespace simt::rewriter
