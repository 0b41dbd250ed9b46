#!/bin/sh
# Starts Perdure wherever it is installed: the command in PERDURE_COMMAND, the one recorded beside this file by
# "perdure plugin install" or "perdure mcp-config", the one on PATH or in ~/.local/bin, else the copy that uvx keeps.

starts() { # whether a file can be run: a script whose interpreter is gone cannot
  [ -n "$1" ] && [ -f "$1" ] && [ -x "$1" ] || return 1
  IFS= read -r first <"$1" 2>/dev/null || return 0
  case $first in
    "#!/"*) interpreter=${first#"#!"}; [ -x "${interpreter%% *}" ] ;;
    *) return 0 ;;
  esac
}

here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
recorded=
if [ -r "$here/command" ]; then IFS= read -r recorded <"$here/command"; fi
for found in "$PERDURE_COMMAND" "$recorded" "$(command -v perdure)" "$HOME/.local/bin/perdure"; do
  if starts "$found"; then exec "$found" "$@"; fi
done
for found in "$(command -v uvx)" "$HOME/.local/bin/uvx" "$HOME/.cargo/bin/uvx"; do
  if starts "$found"; then exec "$found" --from "perdure[mcp,local]==0.1.0" perdure "$@"; fi
done

missing='Perdure is not installed, so there is no memory. Install it with: pip install "perdure[mcp,local]"'
case "$*" in
  *"hook SessionStart"*) printf '{"systemMessage": "%s"}\n' "$(printf %s "$missing" | sed 's/"/\\"/g')" ;;
  *"hook "*) echo "{}" ;;
  *) echo "$missing" >&2; exit 127 ;;
esac
