#include "simt/rewriter/vocabulary.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "simt/rewriter/joined_lines.hpp"
#include "simt/rewriter/lexer.hpp"
#include "simt/rewriter/rewriter.hpp"

namespace simt::rewriter {
namespace {

using Names = std::set<std::string_view>;

/// CUDA's reserved names, and those that every compiler defines.
const Names& reserved_names() {
  static const Names all{
      // of functions and variables
      "__global__", "__device__", "__host__", "__shared__", "__constant__", "__managed__",
      "__grid_constant__", "__launch_bounds__", "__cluster_dims__", "__block_size__", "__maxnreg__",
      "__forceinline__", "__noinline__", "__inline_hint__", "__align__", "__restrict__", "__restrict",
      "__inline__", "__int128", "__int128_t", "__uint128_t",
      // of the preprocessor
      "__FILE__", "__LINE__", "__VA_ARGS__", "__VA_OPT__", "__func__", "__FUNCTION__", "__PRETTY_FUNCTION__",
      "__cplusplus", "__SIMT__", "__NVCC__",
      // of inline PTX
      "__asm__", "__asm", "__volatile__", "__volatile",
      // of threads, warps and memory
      "__syncthreads", "__syncthreads_and", "__syncthreads_or", "__syncthreads_count", "__syncwarp",
      "__threadfence", "__threadfence_block", "__threadfence_system", "__activemask", "__all_sync",
      "__any_sync", "__ballot_sync", "__nanosleep", "__trap", "__brkpt", "__isGlobal", "__isShared",
      "__isConstant", "__isLocal", "__isGridConstant", "__ldg", "__ldca", "__ldcg", "__ldcs", "__ldcv",
      "__ldlu", "__stcg", "__stcs", "__stwb", "__stwt", "__pipeline_memcpy_async", "__pipeline_commit",
      "__pipeline_wait_prior", "__pipeline_arrive_on",
      // of integers
      "__brev", "__brevll", "__byte_perm", "__clz", "__clzll", "__ffs", "__ffsll", "__popc", "__popcll",
      "__funnelshift_l", "__funnelshift_lc", "__funnelshift_r", "__funnelshift_rc", "__mul24", "__umul24",
      "__mulhi", "__umulhi", "__mul64hi", "__umul64hi", "__sad", "__usad", "__uhadd", "__rhadd", "__urhadd",
      // of floats
      "__saturatef", "__fdividef", "__expf", "__exp10f", "__logf", "__log2f", "__log10f", "__sinf", "__cosf",
      "__tanf", "__tanhf", "__sincosf", "__powf", "__hiloint2double", "__float_to_tf32", "__h2div"};
  return all;
}

/// How more of CUDA's reserved names begin.
constexpr std::string_view kReservedFamilies[] = {
    "__CUDA", "__shfl", "__match_", "__reduce_", "__cvta_", "__dp2a", "__dp4a", "__nv_", "__NV_",
    // arithmetic with a way to round
    "__fadd_", "__fsub_", "__fmul_", "__fdiv_", "__fma_", "__fmaf_", "__frcp_", "__fsqrt_", "__frsqrt_",
    "__dadd_", "__dsub_", "__dmul_", "__ddiv_", "__drcp_", "__dsqrt_",
    // casts
    "__float2", "__double2", "__int2", "__uint2", "__ll2", "__ull2", "__short2", "__ushort2", "__half2",
    "__bfloat162", "__float_as_", "__double_as_", "__int_as_", "__uint_as_", "__longlong_as_", "__half_as_",
    "__short_as_", "__ushort_as_", "__bfloat16_as_",
    // numbers of 16 bits
    "__half", "__floats2", "__low", "__high", "__hadd", "__hsub", "__hmul", "__hdiv", "__hfma", "__hneg",
    "__habs", "__heq", "__hne", "__hlt", "__hle", "__hgt", "__hge", "__hmax", "__hmin", "__hisnan",
    "__hisinf", "__hcmadd", "__hb"};

/// Headers of the C++ library, and of C's, that only compute, or print.
const Names& standard_headers() {
  static const Names all{
      // numbers
      "bit", "cfloat", "chrono", "cinttypes", "climits", "cmath", "complex", "cstdint", "limits", "numbers",
      "numeric", "random", "ratio",
      // containers, and what goes through them
      "algorithm", "array", "bitset", "deque", "functional", "iterator", "list", "map", "queue", "ranges",
      "set", "span", "stack", "string", "string_view", "unordered_map", "unordered_set", "vector",
      // types and objects
      "compare", "concepts", "cstddef", "initializer_list", "memory", "new", "optional", "tuple",
      "type_traits", "typeinfo", "utility", "variant", "version",
      // errors and texts
      "cassert", "cctype", "cerrno", "cstdio", "cstdlib", "cstring", "exception", "iomanip", "ios", "iosfwd",
      "iostream", "ostream", "sstream", "stdexcept", "system_error",
      // of C
      "assert.h", "ctype.h", "errno.h", "float.h", "inttypes.h", "limits.h", "math.h", "stddef.h", "stdint.h",
      "stdio.h", "stdlib.h", "string.h"};
  return all;
}

/// Words without a reserved beginning: what leads to the simulator, to attributes of g++, and into parts of
/// C++ that no kernel and its launch have.
constexpr std::string_view kRefusedWords[] = {"simt",      "gnu",     "thread_local", "co_await", "co_yield",
                                              "co_return", "va_list", "va_start",     "va_arg",   "va_copy"};
constexpr std::string_view kRefusedFamilies[] = {"simt_", "SIMT_"};

bool begins_with_any(std::string_view word, std::span<const std::string_view> beginnings) {
  return std::any_of(beginnings.begin(), beginnings.end(),
                     [&](std::string_view beginning) { return word.starts_with(beginning); });
}

bool is_refused_word(std::string_view word) {
  return std::find(std::begin(kRefusedWords), std::end(kRefusedWords), word) != std::end(kRefusedWords) ||
         begins_with_any(word, kRefusedFamilies);
}

/// Whether a name belongs to compilers and libraries, or to the host's processor. Underscores alone are a
/// line in a comment.
bool is_reserved(std::string_view word) {
  if (!word.starts_with('_') || word.find_first_not_of('_') == word.npos) return false;
  return word.starts_with("__") || word.starts_with("_mm") ||
         std::isupper(static_cast<unsigned char>(word[1])) != 0;
}

bool is_allowed(std::string_view reserved) {
  return reserved_names().contains(reserved) || begins_with_any(reserved, kReservedFamilies);
}

/// Whether one letter more, less or other, or two exchanged, make one name of another.
bool is_slip(std::string_view one, std::string_view other) {
  if (one.size() > other.size()) std::swap(one, other);
  const auto same = static_cast<std::size_t>(
      std::mismatch(one.begin(), one.end(), other.begin(), other.end()).first - one.begin());
  one.remove_prefix(same);
  other.remove_prefix(same);
  if (other.size() == one.size() + 1) return other.substr(1) == one;
  if (other.size() != one.size()) return false;
  if (one.size() < 2) return true;
  return one.substr(1) == other.substr(1) ||
         (one[0] == other[1] && one[1] == other[0] && one.substr(2) == other.substr(2));
}

/// Whether a name is one of CUDA's with a slip in it, of which the compiler can say more.
bool is_misspelt(std::string_view reserved) {
  return std::any_of(reserved_names().begin(), reserved_names().end(),
                     [&](std::string_view name) { return is_slip(reserved, name); });
}

/// A name as it may be shown: hostile ones are long.
std::string shown(std::string_view name) {
  constexpr std::size_t kMostShown = 60;
  std::string text(name.substr(0, kMostShown));
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return text;
}

/// The name that begins at `at`; empty if none does.
std::string_view name_at(std::string_view text, std::size_t at) {
  std::size_t end = at;
  while (end < text.size() && is_part_of_name(text[end])) ++end;
  return text.substr(std::min(at, text.size()), end - at);
}

/// The name that ends before `end`; empty if none does.
std::string_view name_before(std::string_view text, std::size_t end) {
  std::size_t begin = end;
  while (begin > 0 && is_part_of_name(text[begin - 1])) --begin;
  return text.substr(begin, end - begin);
}

std::string_view without_last_blanks(std::string_view text) {
  return text.substr(0, text.find_last_not_of(" \t\r") + 1);
}

class Vocabulary {
 public:
  Vocabulary(std::string_view source, std::string_view file_name, const IsOwnHeader& is_own_header)
      : source_(source), file_name_(file_name), is_own_header_(is_own_header), joined_(source) {}

  void check() const {
    const Lexed lexed = lex(source_);
    check_directives(lexed);
    check_reserved_names();
    check_pastes();
    check_headers(lexed);
    check_tokens(lexed.code);
    check_tokens(lexed.directive_tokens);
  }

 private:
  [[noreturn]] void refuse_in_source(std::size_t at, const std::string& why) const {
    const auto end = source_.begin() + static_cast<std::ptrdiff_t>(at);
    throw RewriteError(file_name_, 1 + static_cast<int>(std::count(source_.begin(), end, '\n')), why);
  }
  [[noreturn]] void refuse(std::size_t at, const std::string& why) const {
    refuse_in_source(joined_.places[at], why);
  }

  void check_reserved_names() const {
    const std::string_view text = joined_.text;
    for (std::size_t at = 0; at < text.size(); ++at) {
      const std::string_view word = name_at(text, at);
      if (word.empty()) continue;
      if (is_reserved(word) && !is_allowed(word) && !is_misspelt(word) && !unrolls(text, at))
        refuse(at, "A lesson's file has no " + shown(word) +
                       ": of names that begin with two underscores, or with one and a capital letter, it has "
                       "CUDA's alone. Leave out what only a host's compiler knows, and give what is your own "
                       "another name.");
      at += word.size();
    }
  }

  /// Whether `_Pragma("unroll")`, perhaps with a number, begins at `at`.
  static bool unrolls(std::string_view text, std::size_t at) {
    constexpr std::string_view kPragma = "_Pragma";
    if (name_at(text, at) != kPragma) return false;
    const std::size_t open = past_blanks(text, at + kPragma.size());
    const std::size_t quote = text.substr(open).starts_with('(') ? past_blanks(text, open + 1) : open;
    return text.substr(quote).starts_with("\"unroll") || text.substr(quote).starts_with("\"nounroll");
  }

  void check_directives(const Lexed& lexed) const {
    static const Names usual{"define",   "undef", "include", "if",    "ifdef",   "ifndef", "elif", "elifdef",
                             "elifndef", "else",  "endif",   "error", "warning", "pragma", ""};
    static const Names pragmas{
        "unroll",        "nounroll",     "once",          "nv_diag_suppress",      "nv_diag_default",
        "diag_suppress", "diag_default", "nv_diagnostic", "nv_exec_check_disable", "hd_warning_disable"};
    const std::string_view text = joined_.text;
    for (const Directive& directive : lexed.directives) {
      const auto sign = std::lower_bound(joined_.places.begin(), joined_.places.end(), directive.begin);
      const std::size_t at = past_blanks(text, static_cast<std::size_t>(sign - joined_.places.begin()) + 1);
      const std::string_view name = name_at(text, at);
      if (!usual.contains(name))
        refuse_in_source(directive.begin,
                         "A lesson's file has no directive #" + shown(name) + ". Leave it out.");
      if (name != "pragma") continue;
      const std::size_t behind = past_blanks(text, at + name.size());
      const std::string_view pragma = name_at(text, behind);
      const bool about_warnings =
          pragma == "GCC" && name_at(text, past_blanks(text, behind + pragma.size())) == "diagnostic";
      if (!pragmas.contains(pragma) && !about_warnings)
        refuse_in_source(directive.begin, "A lesson's file has no #pragma " + shown(pragma) +
                                              ", only unroll and those about warnings. Leave it out.");
    }
  }

  /// `##` may make a name of parts that are none. It begins with what stands on the left.
  void check_pastes() const {
    const std::string_view text = joined_.text;
    constexpr std::string_view kPaste = "##";
    for (std::size_t at = text.find(kPaste); at != text.npos; at = text.find(kPaste, at + kPaste.size())) {
      const std::size_t newline = text.rfind('\n', at);
      const std::size_t begin = newline == text.npos ? 0 : newline + 1;
      const std::string_view before = text.substr(begin, at - begin);
      const bool may_be_macro = before.find("define") != before.npos || before.find("*/") != before.npos ||
                                before.find('"') != before.npos;
      if (may_be_macro && !pastes_well(before))
        refuse(at,
               "Here ## makes a name whose beginning is not written out, or could be that of a name which a "
               "lesson's file does not have. Write the name out, or begin it with a word of your own.");
    }
  }

  /// Whether what `##` makes behind that part of a macro's line is another argument, or a name that can be
  /// none of those that are refused.
  static bool pastes_well(std::string_view before) {
    before = without_last_blanks(before);
    if (before.ends_with(',')) return true;
    std::string_view left = name_before(before, before.size());
    before.remove_suffix(left.size());
    while (!left.empty() && without_last_blanks(before).ends_with("##")) {  // the first of several parts
      before = without_last_blanks(before);
      before = without_last_blanks(before.substr(0, before.size() - 2));
      left = name_before(before, before.size());
      before.remove_suffix(left.size());
    }
    if (left.empty() || left.starts_with('_') || std::isdigit(static_cast<unsigned char>(left[0])) != 0)
      return false;
    const auto could_become = [&](std::string_view refused) { return refused.starts_with(left); };
    return std::none_of(std::begin(kRefusedWords), std::end(kRefusedWords), could_become) &&
           std::none_of(std::begin(kRefusedFamilies), std::end(kRefusedFamilies), could_become) &&
           !is_parameter(before, left);
  }

  /// Whether the beginning of a macro's line has a word of its parameters' in it, or before its name's end.
  static bool is_parameter(std::string_view line, std::string_view word) {
    const std::size_t end = std::min(line.find(')'), line.size());
    for (std::size_t at = 0; at < end; ++at) {
      const std::string_view name = name_at(line, at);
      if (name == word) return true;
      at += name.size();
    }
    return line.find("define") == line.npos;
  }

  void check_headers(const Lexed& lexed) const {
    for (const Directive& directive : lexed.directives) {
      if (directive.kind != DirectiveKind::include) continue;
      const std::string quoted = directive.last_token - directive.first_token == 1
                                     ? clean_text(source_, lexed.directive_tokens[directive.first_token])
                                     : "";
      if (quoted.size() < 3 || (quoted.front() != '<' && quoted.front() != '"'))
        refuse_in_source(directive.begin, "Write out which header #include is to take.");
      const std::string name = quoted.substr(1, quoted.size() - 2);
      if (!is_allowed_header(name, quoted.front() == '"'))
        refuse_in_source(directive.begin,
                         "A lesson's file does not include " + shown(quoted) +
                             ". It may have CUDA's headers, the lesson's own, those of common/device, and "
                             "those of the C++ library that compute or print, such as <cmath>, <vector> and "
                             "<cstdio>.");
    }
  }

  bool is_allowed_header(const std::string& name, bool in_quotes) const {
    if (name.find("..") != name.npos || name.starts_with('/') || name.starts_with("simt_")) return false;
    if (standard_headers().contains(name) || is_own_header_(name)) return true;
    if (name.starts_with("device/")) return true;
    return in_quotes && name.find('/') == name.npos && !name.ends_with(".cu");
  }

  void check_tokens(const std::vector<Token>& tokens) const {
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      const auto kind = [&](std::size_t index) {
        return index < tokens.size() ? tokens[index].kind : TokenKind::other;
      };
      if (kind(i) == TokenKind::word) {
        const std::string word = clean_text(source_, tokens[i]);
        if (is_refused_word(word))
          refuse_in_source(tokens[i].begin, "A lesson's file does without " + shown(word) +
                                                ", which is no part of CUDA. Leave it out, or give what is "
                                                "your own another name.");
        if (word == "goto" && kind(i + 1) == TokenKind::star)
          refuse_in_source(tokens[i].begin, "goto takes a label and no pointer in CUDA. Write a switch.");
      } else if (is_digraph(tokens, i)) {
        refuse_in_source(tokens[i].begin, "Write signs as such: [ and ], { and }, #.");
      } else if (kind(i) == TokenKind::open_bracket && kind(i + 1) == TokenKind::open_bracket) {
        check_attributes(tokens, i + 2);
      }
    }
  }

  /// Whether `<:`, `<%` or `%:` stands there, which compilers take for `[`, `{` and `#`. In `<::` there is
  /// none, unless `:` or `>` comes next.
  bool is_digraph(const std::vector<Token>& tokens, std::size_t i) const {
    if (i + 1 >= tokens.size() || !are_together(tokens[i], tokens[i + 1])) return false;
    const TokenKind next = tokens[i + 1].kind;
    const bool colon = next == TokenKind::colon || next == TokenKind::scope;
    if (source_[tokens[i].begin] == '%') return colon && tokens[i].end - tokens[i].begin == 1;
    if (tokens[i].kind != TokenKind::less) return false;
    if (next == TokenKind::colon || source_[tokens[i + 1].begin] == '%') return true;
    if (next != TokenKind::scope || i + 2 >= tokens.size()) return false;
    const TokenKind third = tokens[i + 2].kind;
    return are_together(tokens[i + 1], tokens[i + 2]) &&
           (third == TokenKind::colon || third == TokenKind::scope || third == TokenKind::greater);
  }

  /// Whether nothing but backslash-newlines lies between the two.
  bool are_together(const Token& one, const Token& next) const {
    std::size_t at = one.end;
    while (at < next.begin) {
      const std::size_t length = splice_length(source_, at);
      if (length == 0) return false;
      at += length;
    }
    return true;
  }

  /// The attributes from the token `at` on, up to their bracket.
  void check_attributes(const std::vector<Token>& tokens, std::size_t at) const {
    static const Names usual{"nodiscard", "maybe_unused", "likely",      "unlikely",
                             "noreturn",  "deprecated",   "fallthrough", "no_unique_address"};
    int depth = 0;
    for (bool name_is_next = true; at < tokens.size() && tokens[at].kind != TokenKind::close_bracket; ++at) {
      const TokenKind kind = tokens[at].kind;
      if (kind == TokenKind::open_paren) ++depth;
      if (kind == TokenKind::close_paren) --depth;
      if (depth == 0 && name_is_next && kind == TokenKind::word) {
        const std::string name = clean_text(source_, tokens[at]);
        if (!usual.contains(name))
          refuse_in_source(tokens[at].begin, "CUDA C++ has no attribute " + shown(name) + ". Leave it out.");
      }
      name_is_next = depth == 0 && kind == TokenKind::comma;
    }
  }

  std::string_view source_, file_name_;
  const IsOwnHeader& is_own_header_;
  JoinedLines joined_;
};

}  // namespace

void check_vocabulary(std::string_view source, std::string_view file_name, const IsOwnHeader& is_own_header) {
  Vocabulary(source, file_name, is_own_header).check();
}

}  // namespace simt::rewriter
