#include "simt/rewriter/vocabulary.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
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
      "__inline__", "__int128", "__int128_t", "__uint128_t", "__builtin_expect", "__builtin_unreachable",
      "__builtin_assume", "__builtin_assume_aligned", "__assume",
      // of the preprocessor
      "__FILE__", "__LINE__", "__VA_ARGS__", "__VA_OPT__", "__func__", "__FUNCTION__", "__PRETTY_FUNCTION__",
      "__cplusplus", "__SIMT__", "__NVCC__", "__GNUC__", "__clang__", "__linux__", "__INTELLISENSE__",
      "_MSC_VER", "_WIN32",
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
    "__CUDA", "__cpp_", "__shfl", "__match_", "__reduce_", "__cvta_", "__dp2a", "__dp4a", "__nv_", "__NV_",
    // arithmetic with a way to round
    "__fadd_", "__fsub_", "__fmul_", "__fdiv_", "__fma_", "__fmaf_", "__frcp_", "__fsqrt_", "__frsqrt_",
    "__dadd_", "__dsub_", "__dmul_", "__ddiv_", "__drcp_", "__dsqrt_",
    // casts
    "__float2", "__double2", "__int2", "__uint2", "__ll2", "__ull2", "__short2", "__ushort2", "__half2",
    "__bfloat162", "__float_as_", "__double_as_", "__int_as_", "__uint_as_", "__longlong_as_", "__half_as_",
    "__short_as_", "__ushort_as_", "__bfloat16_as_",
    // numbers of 16 bits
    "__half", "__halves2", "__floats2", "__low", "__high", "__hadd", "__hsub", "__hmul", "__hdiv", "__hfma",
    "__hneg", "__habs", "__heq", "__hne", "__hlt", "__hle", "__hgt", "__hge", "__hmax", "__hmin", "__hisnan",
    "__hisinf", "__hcmadd", "__hb",
    // several integers in one word
    "__vabs", "__vadd", "__vavg", "__vcmp", "__vhadd", "__viadd", "__vib", "__vim", "__vmax", "__vmin",
    "__vneg", "__vsad", "__vset", "__vsub",
    // clusters
    "__isCluster", "__cluster"};

/// Headers of the C++ library, and of C's, that only compute, or print.
const Names& standard_headers() {
  static const Names all{
      // numbers
      "bit", "cfloat", "chrono", "cinttypes", "climits", "cmath", "complex", "cstdint", "limits", "numbers",
      "numeric", "random", "ratio",
      // containers, and what goes through them
      "algorithm", "array", "bitset", "deque", "forward_list", "functional", "iterator", "list", "map",
      "queue", "ranges", "set", "span", "stack", "string", "string_view", "unordered_map", "unordered_set",
      "vector",
      // types and objects
      "compare", "concepts", "cstddef", "initializer_list", "memory", "new", "optional", "tuple",
      "type_traits", "typeinfo", "utility", "variant", "version",
      // errors and texts
      "cassert", "cctype", "charconv", "cerrno", "cstdio", "cstdlib", "cstring", "exception", "iomanip",
      "ios", "iosfwd", "iostream", "ostream", "sstream", "stdexcept", "source_location", "system_error",
      // of C
      "assert.h", "ctype.h", "errno.h", "float.h", "inttypes.h", "limits.h", "math.h", "stddef.h", "stdint.h",
      "stdio.h", "stdlib.h", "string.h", "stdbool.h", "time.h", "ctime"};
  return all;
}

/// Words without a reserved beginning: what leads to the simulator, to attributes of g++, and into parts of
/// C++ that no kernel and its launch have.
constexpr std::string_view kRefusedWords[] = {"gnu",     "thread_local", "co_await", "co_yield", "co_return",
                                              "va_list", "va_start",     "va_arg",   "va_copy"};
constexpr std::string_view kRefusedFamilies[] = {"simt_", "SIMT_"};

bool begins_with_any(std::string_view word, std::span<const std::string_view> beginnings) {
  return std::any_of(beginnings.begin(), beginnings.end(),
                     [&](std::string_view beginning) { return word.starts_with(beginning); });
}

bool is_refused_word(std::string_view word) {
  return std::find(std::begin(kRefusedWords), std::end(kRefusedWords), word) != std::end(kRefusedWords);
}

/// Whether a name belongs to compilers and libraries, or to the host's processor. A capital letter with one
/// more is none of theirs: the parameters of many a template are called so.
bool is_reserved(std::string_view word) {
  if (word.starts_with("__")) return word.find_first_not_of('_') != word.npos;
  if (word.starts_with("_mm_") || word.starts_with("_mm256") || word.starts_with("_mm512")) return true;
  return word.size() > 3 && word[0] == '_' && std::isupper(static_cast<unsigned char>(word[1])) != 0;
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

class Vocabulary {
 public:
  Vocabulary(std::string_view source, std::string_view file_name, const IsKnownHeader& is_known)
      : source_(source), file_name_(file_name), is_known_(is_known), lexed_(lex(source)), joined_(source) {}

  void check() {
    check_line_ends();
    drop_what_is_switched_off();
    check_directives();
    check_headers();
    check_pastes();
    check_tokens(lexed_.code);
    check_tokens(lexed_.directive_tokens);
  }

  /// Of a text that the rewriter has written and that is preprocessed: all lines but those of CUDA's headers.
  void check_names_after_macros(std::string_view own_headers) const {
    auto marker = lexed_.directives.begin();
    Place place;
    for (std::size_t i = 0; i < lexed_.code.size(); ++i) {
      const Token& token = lexed_.code[i];
      for (; marker != lexed_.directives.end() && marker->begin < token.begin; ++marker)
        go_to(*marker, place);
      if (token.kind != TokenKind::word || place.file.starts_with(own_headers) ||
          !names_the_simulator(lexed_.code, i) || is_written_by_rewriter(lexed_.code, i))
        continue;
      const auto lines = std::count(source_.begin() + static_cast<std::ptrdiff_t>(place.begin),
                                    source_.begin() + static_cast<std::ptrdiff_t>(token.begin), '\n');
      throw RewriteError(place.file, place.line + static_cast<int>(lines),
                         "Macros make the name " + shown(text(token)) +
                             " here, which is no part of CUDA. Leave them out, or give what is your own "
                             "another name.");
    }
  }

 private:
  /// Where a preprocessed line comes from.
  struct Place {
    std::string_view file;
    int line = 0;           ///< in the file
    std::size_t begin = 0;  ///< where that one lies in the text
  };

  /// What a line such as `# 12 "softmax.cu" 2` tells of the next one.
  void go_to(const Directive& marker, Place& place) const {
    const std::string_view line = source_.substr(marker.begin, marker.end - marker.begin);
    const std::size_t quote = line.find('"');
    if (quote == line.npos || line.size() < 3 || std::isdigit(static_cast<unsigned char>(line[2])) == 0)
      return;
    place.file = line.substr(quote + 1, line.find('"', quote + 1) - quote - 1);
    std::from_chars(line.data() + 2, line.data() + quote, place.line);
    place.begin = marker.end + 1;
  }

  /// Whether the name at token `i` is one of the simulator's, or leads to them.
  bool names_the_simulator(const std::vector<Token>& tokens, std::size_t i) const {
    const std::string word = text(tokens[i]);
    if (begins_with_any(word, kRefusedFamilies)) return true;
    return word == "simt" && (is_in_namespace_definition(tokens, i) ||
                              (i + 1 < tokens.size() && tokens[i + 1].kind == TokenKind::scope));
  }

  /// Of `namespace simt`, with attributes of any kind in between, or `namespace other = ::simt`.
  bool is_in_namespace_definition(const std::vector<Token>& tokens, std::size_t i) const {
    while (i > 0) {
      const std::string before = text(tokens[--i]);
      if (before == "namespace") return true;
      if (before == ";" || before == "{" || before == "}") return false;
    }
    return false;
  }

  /// Whether the name at token `i` is one that stands in rewritten files.
  bool is_written_by_rewriter(const std::vector<Token>& tokens, std::size_t i) const {
    static const Names variables{"simt_args",          "simt_at",   "simt_kernel", "simt_known",
                                 "simt_launch_bounds", "simt_name", "simt_object", "simt_type"};
    static const Names members{"LaunchConfig",  "Zero",       "as_number", "braced",    "dynamic_shared",
                               "host_function", "inline_ptx", "is_known",  "launch",    "name_parameters",
                               "name_shared",   "name_view",  "object_of", "parameter", "seen_as"};
    if (text(tokens[i]) != "simt") return variables.contains(text(tokens[i]));
    return !is_in_namespace_definition(tokens, i) && i + 2 < tokens.size() &&
           members.contains(text(tokens[i + 2]));
  }

  [[noreturn]] void refuse(std::size_t at, const std::string& why) const {
    const auto end = source_.begin() + static_cast<std::ptrdiff_t>(at);
    throw RewriteError(file_name_, 1 + static_cast<int>(std::count(source_.begin(), end, '\n')), why);
  }

  std::string text(const Token& token) const { return clean_text(source_, token); }

  /// The lexer must join the lines that compilers join, and no others.
  void check_line_ends() const {
    const auto stays = [&](std::size_t at) {
      return std::binary_search(joined_.places.begin(), joined_.places.end(), at);
    };
    for (std::size_t at = source_.find('\\'); at != source_.npos; at = source_.find('\\', at + 1)) {
      const std::size_t length = splice_length(source_, at), next = at + length;
      const bool ends_alike = next == source_.size() || splice_length(source_, next) != 0 || stays(next);
      if ((length == 0) != stays(at) || (length != 0 && !ends_alike))
        refuse(at, "Nothing but blanks may stand between a backslash and the end of its line.");
    }
  }

  /// Forgets what stands between `#if 0` and its end, or its `#else`.
  void drop_what_is_switched_off() {
    std::vector<Stretch> off;
    std::vector<bool> open;  // whether each #if is one of 0, and still on its first part
    for (const Directive& directive : lexed_.directives) {
      const bool was_off = std::find(open.begin(), open.end(), true) != open.end();
      switch (directive.kind) {
        case DirectiveKind::if_:
          open.push_back(directive.last_token - directive.first_token == 1 &&
                         text(lexed_.directive_tokens[directive.first_token]) == "0");
          break;
        case DirectiveKind::ifdef:
        case DirectiveKind::ifndef:
          open.push_back(false);
          break;
        case DirectiveKind::endif:
          if (!open.empty()) open.pop_back();
          break;
        case DirectiveKind::else_:
        case DirectiveKind::elif:
        case DirectiveKind::elifdef:
        case DirectiveKind::elifndef:
          if (!open.empty()) open.back() = false;
          break;
        default:
          break;
      }
      const bool is_off = std::find(open.begin(), open.end(), true) != open.end();
      if (is_off && !was_off) off.push_back({directive.end, source_.size(), true});
      if (was_off && !is_off) off.back().end = directive.begin;
    }
    const auto is_off = [&](std::size_t at) {
      return std::any_of(off.begin(), off.end(),
                         [&](const Stretch& stretch) { return stretch.begin <= at && at < stretch.end; });
    };
    std::erase_if(lexed_.code, [&](const Token& token) { return is_off(token.begin); });
    for (Directive& directive : lexed_.directives)
      if (is_off(directive.begin)) {
        directive.live = false;
        for (std::uint32_t i = directive.first_token; i < directive.last_token; ++i)
          lexed_.directive_tokens[i].kind = TokenKind::other;
      }
  }

  /// The name of a directive, and what stands behind it.
  std::pair<std::string_view, std::size_t> name_of(const Directive& directive) const {
    const auto sign = std::lower_bound(joined_.places.begin(), joined_.places.end(), directive.begin);
    const std::size_t at =
        past_blanks(joined_.text, static_cast<std::size_t>(sign - joined_.places.begin()) + 1);
    const std::string_view name = name_at(joined_.text, at);
    return {name, past_blanks(joined_.text, at + name.size())};
  }

  void check_directives() const {
    static const Names usual{"define",   "undef", "include", "if",    "ifdef",   "ifndef", "elif", "elifdef",
                             "elifndef", "else",  "endif",   "error", "warning", "pragma", ""};
    static const Names pragmas{"unroll",    "nounroll",          "once", "warning", "region",
                               "endregion", "hd_warning_disable"};
    constexpr std::string_view kAboutWarnings[] = {"nv_diag", "nv_exec_check_disable", "diag_"};
    const std::string_view joined = joined_.text;
    for (const Directive& directive : lexed_.directives) {
      if (!directive.live) continue;
      const auto [name, behind] = name_of(directive);
      if (!usual.contains(name))
        refuse(directive.begin, "A lesson's file has no directive #" + shown(name) + ". Leave it out.");
      if (name != "pragma") continue;
      const std::string_view pragma = name_at(joined, behind);
      const bool of_gcc = pragma == "GCC" && name_at(joined, past_blanks(joined, behind + 3)) == "diagnostic";
      if (!pragmas.contains(pragma) && !begins_with_any(pragma, kAboutWarnings) && !of_gcc)
        refuse(directive.begin, "A lesson's file has no #pragma " + shown(pragma) +
                                    ", only unroll and those about warnings. Leave it out.");
    }
  }

  void check_headers() const {
    for (const Directive& directive : lexed_.directives) {
      if (directive.kind != DirectiveKind::include || !directive.live) continue;
      const std::string quoted = directive.last_token - directive.first_token == 1
                                     ? text(lexed_.directive_tokens[directive.first_token])
                                     : "";
      if (quoted.size() < 3 || (quoted.front() != '<' && quoted.front() != '"'))
        refuse(directive.begin, "Write out which header #include is to take.");
      if (!is_allowed_header(quoted.substr(1, quoted.size() - 2), quoted.front() == '"'))
        refuse(directive.begin,
               "A lesson's file does not include " + shown(quoted) +
                   ". It may have CUDA's headers, the lesson's own, those of common/device, and "
                   "those of the C++ library that compute or print, such as <cmath>, <vector> and <cstdio>.");
    }
  }

  /// `##` may make a name of parts that are none: no reserved one may come of it. What macros get for their
  /// parameters, which may be nothing, is written somewhere in the file.
  void check_pastes() const {
    bool any = false;
    std::vector<std::uint32_t> fine;  // positions of names that cannot begin another one
    for (const Directive& directive : lexed_.directives) {
      if (directive.kind != DirectiveKind::define || !directive.live) continue;
      const std::span<const Token> macro =
          std::span(lexed_.directive_tokens)
              .subspan(directive.first_token, directive.last_token - directive.first_token);
      for (std::size_t i = 1; i + 1 < macro.size(); ++i) {
        if (macro[i].kind != TokenKind::paste) continue;
        any = true;
        const std::size_t head = i - 1;
        std::vector<std::uint32_t> with_underscore;
        for (; i + 1 < macro.size() && macro[i].kind == TokenKind::paste; i += 2)
          if (text(macro[i + 1]).starts_with('_')) with_underscore.push_back(macro[i + 1].begin);
        --i;  // at the last part of the name
        if (begins_its_names(macro, head) ||
            (with_underscore.size() == 1 &&
             std::islower(static_cast<unsigned char>(source_[with_underscore[0] + 1])) != 0))
          fine.insert(fine.end(), with_underscore.begin(), with_underscore.end());
      }
    }
    if (!any) return;
    const auto check_all = [&](const std::vector<Token>& tokens) {
      for (const Token& token : tokens) {
        if (token.kind != TokenKind::word || std::find(fine.begin(), fine.end(), token.begin) != fine.end())
          continue;
        const std::string word = text(token);
        if (word.starts_with('_') && !is_allowed(word))
          refuse(token.begin, "A file with ## in a macro has no name such as " + shown(word) +
                                  ", of which it could make one that belongs to the compiler. Begin the name "
                                  "with a letter.");
      }
    };
    check_all(lexed_.code);
    check_all(lexed_.directive_tokens);
  }

  /// Whether the names that `##` makes of a macro's token `head` and others begin with it, and with a letter:
  /// it is no parameter.
  bool begins_its_names(std::span<const Token> macro, std::size_t head) const {
    if (macro[head].kind != TokenKind::word) return false;
    const std::string name = text(macro[head]);
    if (name.starts_with('_')) return false;
    for (std::size_t i = 1; i < head && macro[i].kind != TokenKind::close_paren; ++i)
      if (text(macro[i]) == name) return false;
    return true;
  }

  bool is_allowed_header(const std::string& name, bool in_quotes) const {
    for (const std::string_view way : {"/./", "/../", "//"})
      if (("/" + name).find(way) != name.npos) return false;
    if (name.starts_with('/') || name.starts_with("simt_")) return false;
    if (standard_headers().contains(name) || is_known_(name, in_quotes) || name.starts_with("device/"))
      return true;
    // One that is not there, of which the compiler says more. The system has none of these.
    return in_quotes && name.find('/') == name.npos && (name.ends_with(".hpp") || name.ends_with(".cuh"));
  }

  void check_tokens(const std::vector<Token>& tokens) const {
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      const auto kind = [&](std::size_t index) {
        return index < tokens.size() ? tokens[index].kind : TokenKind::other;
      };
      if (kind(i) == TokenKind::word) {
        check_word(tokens, i);
      } else if (is_digraph(tokens, i)) {
        refuse(tokens[i].begin, "Write signs as such: [ and ], { and }, #.");
      } else if (kind(i) == TokenKind::open_bracket && kind(i + 1) == TokenKind::open_bracket) {
        check_attributes(tokens, i + 2);
      }
    }
  }

  void check_word(const std::vector<Token>& tokens, std::size_t i) const {
    const std::string word = text(tokens[i]);
    const std::size_t at = tokens[i].begin;
    const bool is_suffix = at > 0 && (source_[at - 1] == '"' || source_[at - 1] == '\'');  // of a text
    if (word == "_Pragma" && !unrolls(tokens, i))
      refuse(at,
             "A lesson's file has _Pragma(\"unroll\"), and no other _Pragma. Write #pragma on a line of its "
             "own.");
    if (is_refused_word(word) || names_the_simulator(tokens, i))
      refuse(at, "A lesson's file does without " + shown(word) +
                     ", which is no part of CUDA. Leave it out, or give what is your own another name.");
    if (word == "goto" && i + 1 < tokens.size() && tokens[i + 1].kind == TokenKind::star)
      refuse(at, "goto takes a label and no pointer in CUDA. Write a switch.");
    if (is_reserved(word) && word != "_Pragma" && !is_allowed(word) && !is_misspelt(word) &&
        !(is_suffix && !word.starts_with("__")))
      refuse(
          at,
          "A lesson's file has no " + shown(word) +
              ": of names that begin with two underscores, or with one and a capital letter, it has CUDA's. "
              "Leave out what only a host's compiler knows, and give what is your own another name.");
  }

  /// Whether `_Pragma("unroll")`, perhaps with a number, stands at token `i`.
  bool unrolls(const std::vector<Token>& tokens, std::size_t i) const {
    if (i + 2 >= tokens.size() || tokens[i + 1].kind != TokenKind::open_paren) return false;
    const std::string text_of_it = text(tokens[i + 2]);
    return text_of_it.starts_with("\"unroll") || text_of_it.starts_with("\"nounroll");
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
        const std::string name = text(tokens[at]);
        if (!usual.contains(name))
          refuse(tokens[at].begin, "CUDA C++ has no attribute " + shown(name) + ". Leave it out.");
      }
      name_is_next = depth == 0 && kind == TokenKind::comma;
    }
  }

  std::string_view source_, file_name_;
  const IsKnownHeader& is_known_;
  Lexed lexed_;
  JoinedLines joined_;
};

}  // namespace

void check_vocabulary(std::string_view source, std::string_view file_name, const IsKnownHeader& is_known) {
  Vocabulary(source, file_name, is_known).check();
}

void check_names_after_macros(std::string_view preprocessed, std::string_view own_headers) {
  Vocabulary(preprocessed, {}, {}).check_names_after_macros(own_headers);
}

}  // namespace simt::rewriter
