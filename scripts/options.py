"""A parser of options for the scripts, which says what is wrong as `./course` does: in a sentence, with exit status 2."""

import argparse
import difflib
import re
import sys

KINDS = {int: "a whole number", float: "a number"}


def listed(names, word):
    """ "a, b and c" """
    names = [str(name) for name in names]
    return f" {word} ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0]


def did_you_mean(word, known):
    """A question, behind a space, if something is nearly called that."""
    near = difflib.get_close_matches(str(word), [str(name) for name in known], n=3, cutoff=0.7)
    return f" Did you mean {listed(near, 'or')}?" if near else ""


class Parser(argparse.ArgumentParser):
    """As argparse has it, but for what it says of wrong options. There are no abbreviations."""

    def __init__(self, *arguments, **settings):
        super().__init__(*arguments, allow_abbrev=False, **settings)

    def parse_known_args(self, args=None, namespace=None):
        words = sys.argv[1:] if args is None else list(args)
        for word in words[: words.index("--")] if "--" in words else words:
            self.check_option(word)
        known, others = super().parse_known_args(words, namespace)
        if others:
            self.error(f"It takes no further argument, such as {others[0]}.")
        return known, others

    def check_option(self, word):
        """Before anything else is found to be wrong: what follows an unknown option belongs to it, perhaps."""
        known, name = self._option_string_actions, word.partition("=")[0]
        if not word.startswith("-") or word == "-" or re.fullmatch(r"-[0-9.]+", word):
            return
        if name not in known and (name.startswith("--") or name[:2] not in known):
            self.error(f"There is no option {name}.{did_you_mean(name, known)}")

    def error(self, message):
        """Ends the script. `message` is a sentence, or argparse's own words."""
        if found := re.fullmatch(r"the following arguments are required: (.*)", message):
            names = [name if name.startswith("-") else name.upper() for name in found[1].split(", ")]
            message = f"{listed(names, 'and')} {'is' if len(names) == 1 else 'are'} missing."
        elif found := re.fullmatch(r"argument (\S+): not allowed with argument (\S+)", message):
            message = f"{found[1]} and {found[2]} exclude each other."
        elif found := re.fullmatch(r"argument (\S+): ignored explicit argument '(.*)'", message):
            message = f"{found[1].rpartition('/')[2]} takes no value, such as {found[2]}."
        end = "" if message.endswith((".", "?")) else "."
        self.exit(2, f"{self.prog}: {message[0].upper()}{message[1:]}{end} `{self.prog} --help` says what there is.\n")

    @staticmethod
    def name_of(action):
        return action.option_strings[-1] if action.option_strings else (action.metavar or action.dest).upper()

    def _get_value(self, action, arg_string):
        try:
            return super()._get_value(action, arg_string)
        except argparse.ArgumentError as error:
            kind = KINDS.get(action.type)
            what = f" must be {kind}, not {arg_string}." if kind else f": {error.message}"
            raise argparse.ArgumentError(None, self.name_of(action) + what) from error

    def _check_value(self, action, value):
        if action.choices is not None and value not in action.choices:
            what = f"{self.name_of(action)} must be {listed(action.choices, 'or')}, not {value}."
            raise argparse.ArgumentError(None, what + did_you_mean(value, action.choices))

    def _match_argument(self, action, arg_strings_pattern):
        try:
            return super()._match_argument(action, arg_strings_pattern)
        except argparse.ArgumentError as error:
            what = action.metavar or action.dest.upper()
            raise argparse.ArgumentError(None, f"{self.name_of(action)} needs {what} after it.") from error


def check_words(*flags):
    """For a script whose words are files and those flags, and which reads them itself. Its page is its help."""
    page = sys.modules["__main__"].__doc__
    parser = Parser(description=page, usage=argparse.SUPPRESS, formatter_class=argparse.RawDescriptionHelpFormatter)
    for flag in flags:
        parser.add_argument(flag, action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("files", nargs="*", help=argparse.SUPPRESS)
    parser.parse_args()
