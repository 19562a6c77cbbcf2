#!/bin/sh
# Prints what makes a shell complete the words of ./course; the shell evaluates it.
#
#   scripts/completion.sh bash|zsh BUILD_FOLDER
#
# What completes is the program in the build folder, so new commands and lessons need no new script. As long as there
# is no program, the commands are completed that the sources describe.
set -u

shell=${1:-}
here=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd -P) || exit 3
program=$(printf '%s\n' "${2:-$here/build}/bin/course" | sed "s/'/'\\\\''/g")
commands=$(sed -n 's/.*app, "\([a-z]*\)",.*/\1/p' "$here"/common/cli/command_line_*.cpp | tr '\n' ' ')

case $shell in
  bash)
    cat <<END
_course() {
  local program='$program' current=\${COMP_WORDS[COMP_CWORD]} line
  COMPREPLY=()
  if [ ! -x "\$program" ]; then
    if [ "\$COMP_CWORD" -eq 1 ]; then
      while IFS= read -r line; do COMPREPLY+=("\$line"); done < <(compgen -W '$commands' -- "\$current")
    fi
    return 0
  fi
  while IFS= read -r line; do
    case \$line in
      :files) compopt -o default ;;
      :folders) compopt -o dirnames ;;
      *) COMPREPLY+=("\$line") ;;
    esac
  done < <("\$program" __complete "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _course course
END
    ;;
  zsh)
    cat <<END
_course() {
  local program='$program' line
  local -a found
  if [[ ! -x \$program ]]; then
    (( CURRENT == 2 )) && compadd -- $commands
    return
  fi
  for line in "\${(@f)\$("\$program" __complete "\${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
    case \$line in
      :files) _files ;;
      :folders) _files -/ ;;
      ?*) found+=("\$line") ;;
    esac
  done
  compadd -a found
}
if (( ! \$+functions[compdef] )); then
  autoload -Uz compinit && compinit
fi
compdef _course course
END
    ;;
  *)
    echo 'usage: completion.sh bash|zsh BUILD_FOLDER' >&2
    exit 2
    ;;
esac
