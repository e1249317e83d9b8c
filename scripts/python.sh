#!/bin/sh
# Finds a Python for this project and tells whether an environment is sound. Runs before any Python of ours can.
#
#   sh scripts/python.sh find          prints an interpreter that works, or says what to install
#   sh scripts/python.sh sound DIR     succeeds when the environment in DIR can be used as it is
#
# PYTHON overrides the search. A candidate counts only when it runs: a pyenv shim may stand on PATH and refuse.
set -u

minors="3.13 3.12 3.14"
about='import sys; print("%d.%d" % sys.version_info[:2])'

minor_of() {
    "$1" -c "$about" 2>/dev/null
}

supported() {
    case " $minors " in *" $1 "*) [ -n "$1" ] ;; *) false ;; esac
}

candidates() {
    for minor in $minors; do
        command -v "python$minor"
        for found in "$HOME/.pyenv/versions/$minor".*/bin/python "$HOME/.local/share/uv/python/cpython-$minor".*/bin/python; do
            [ -x "$found" ] && echo "$found"
        done
    done
    command -v python3
}

advise() {
    cat >&2 <<'TEXT'
No Python 3.12, 3.13 or 3.14 was found on PATH or under ~/.pyenv/versions.
Install one, for example:
  Ubuntu 24.04+, Debian 13+   sudo apt-get install python3 python3-venv
  Fedora                      sudo dnf install python3.13
  macOS                       brew install python@3.13
  any system, pyenv           pyenv install 3.13
  any system, uv              uv python install 3.13
or name one that is there: make PYTHON=/path/to/python3.13
TEXT
    exit 1
}

check_venv_module() {
    "$1" -c 'import ensurepip, venv' 2>/dev/null && return
    minor=$(minor_of "$1")
    cat >&2 <<TEXT
$1 has no venv or ensurepip module, so it can't make an environment.
  Debian, Ubuntu   sudo apt-get install python$minor-venv
  elsewhere        reinstall Python $minor with both, or name another one: make PYTHON=...
TEXT
    exit 1
}

find_python() {
    if [ -n "${PYTHON:-}" ]; then
        minor=$(minor_of "$PYTHON") || { echo "PYTHON=$PYTHON does not run." >&2; exit 1; }
        supported "$minor" || { echo "PYTHON=$PYTHON is Python $minor; one of $minors is needed." >&2; exit 1; }
        check_venv_module "$PYTHON"
        command -v "$PYTHON"
        return
    fi
    best=
    for candidate in $(candidates); do
        supported "$(minor_of "$candidate")" || continue
        # One that can't make environments is the last resort, and then the message says what it lacks.
        "$candidate" -c 'import ensurepip, venv' 2>/dev/null && echo "$candidate" && return
        best=${best:-$candidate}
    done
    [ -n "$best" ] || advise
    check_venv_module "$best"
}

# Sound: its Python runs, is one that we support, is still the minor version that the packages were installed for,
# and is the one that PYTHON asks for, if it does.
sound() {
    minor=$(minor_of "$1/bin/python") || return 1
    supported "$minor" || return 1
    [ -d "$1/lib/python$minor/site-packages" ] || return 1
    [ -z "${PYTHON:-}" ] || [ "$minor" = "$(minor_of "$PYTHON")" ]
}

case "${1:-}" in
    find) find_python ;;
    sound) sound "${2:?}" ;;
    *) echo "usage: sh scripts/python.sh find | sound DIR" >&2; exit 2 ;;
esac
