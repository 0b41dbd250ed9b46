#!/bin/sh
# Starts Perdure wherever it is installed: the command in PERDURE_COMMAND, the one recorded beside this file by
# "perdure plugin install" or "perdure mcp-config", the one on PATH or in ~/.local/bin, else a copy that uvx fetches
# from where that installation came. Nothing is ever fetched by a name alone that was not installed by that name.

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

is_known() { # whether it is recorded where that installation came from, and what lies on this machine is there
  [ -r "$here/source" ] || return 1
  while IFS=' ' read -r kind value; do
    [ "$kind" != path ] || [ -e "$value" ] || return 1
  done <"$here/source"
}

missing='Perdure was not found, so there is no memory. Install it from a checkout of its repository, as its README says,
and run "perdure plugin install" or "perdure mcp-config" with it.'
if is_known; then
  for found in "$(command -v uvx)" "$HOME/.local/bin/uvx" "$HOME/.cargo/bin/uvx"; do
    starts "$found" || continue
    given=$#
    while IFS=' ' read -r kind value; do
      case $kind in --from | --with) set -- "$@" "$kind" "$value" ;; esac
    done <"$here/source"
    set -- "$@" perdure
    while [ "$given" -gt 0 ]; do # what was asked for goes to the end
      asked=$1
      shift
      set -- "$@" "$asked"
      given=$((given - 1))
    done
    exec "$found" "$@"
  done
  while IFS=' ' read -r kind value; do
    if [ "$kind" = install ]; then missing="Perdure was not found, so there is no memory. Install it with: $value"; fi
  done <"$here/source"
fi

missing=$(echo "$missing" | tr '\n' ' ')
case "$*" in
  *"hook SessionStart"*) printf '{"systemMessage": "%s"}\n' "$(printf %s "${missing% }" | sed 's/[\\"]/\\&/g')" ;;
  *"hook "*) echo "{}" ;;
  *) printf '%s\n' "${missing% }" >&2; exit 127 ;;
esac
