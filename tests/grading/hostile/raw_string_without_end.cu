// hostile: Has a raw string and a comment without end, for the rewriter's lexer.
// lesson: 01
// verdict: not_compiled
// says: unterminated
// trick: compile

const char* text = R"delimiter(
/* and a comment
