"""What a student reads of a solution: common/grading/project/stub.hpp says which of its lines are for the stub alone."""


def page_of(solution: str) -> str:
    """The solution without its TODOs, `stub|` and what encloses the parts. Lines like `// [kernel]` stay."""
    lines, before_answer = [], False
    for line in solution.splitlines(keepends=True):
        bare = line.strip()
        if bare.startswith("// TODO"):
            before_answer = True
        elif bare in ("// [cut]", "// [done]"):
            before_answer = False
        elif not (before_answer and bare.startswith("// stub|")):
            before_answer = False
            lines.append(line)
    return "".join(lines)
