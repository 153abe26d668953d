#!/bin/sh
# Installs the kubectl plugin `kubectl-reserve` and its completion link. Needs no root and touches one directory only.
# `sh install.sh --help` says how to use it.
set -eu
unset CDPATH

plugin=kubectl-reserve
completion=kubectl_complete-reserve # kubectl looks for exactly this name when it completes `kubectl reserve …`

usage() {
    cat <<'END'
Installs the kubectl plugin kubectl-reserve, and the link kubectl_complete-reserve that completes its words.

Usage:
  sh install.sh                              build from this checkout (needs cargo) and install
  ARCHIVE=FILE.tar.gz sh install.sh          install from a release archive, no build
  sh install.sh --uninstall                  remove the two files again

Environment:
  INSTALL_DIR   where to install (default: ~/.local/bin)
  ARCHIVE       a .tar.gz that holds kubectl-reserve
  SHA256        the archive's sha256; if unset, it is read from ARCHIVE.sha256 beside the archive
END
}

say() { printf '%s\n' "$*"; }

# fail WHAT [NEXT STEP…]: one line each; nothing has been installed when this is called.
fail() {
    printf 'install.sh: %s\n' "$1" >&2
    shift
    for line in "$@"; do printf '  %s\n' "$line" >&2; done
    exit 1
}

have() { command -v "$1" >/dev/null 2>&1; }

scratch=
cleanup() {
    if [ -n "$scratch" ]; then rm -rf -- "$scratch"; fi
    # Set only once the directory is known; the names carry our process id, so nobody else's file is met.
    if [ -n "${new_plugin-}" ]; then rm -f -- "$new_plugin" "$new_link"; fi
}
trap cleanup EXIT
# A signal must end the script through exit, or the trap above would not run in every shell.
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

# Sets $dir, absolute. The directory need not exist.
choose_dir() {
    dir=${INSTALL_DIR-}
    if [ -z "$dir" ]; then
        [ -n "${HOME-}" ] || fail "HOME is not set, so there is no ~/.local/bin." \
            "Say where to install: INSTALL_DIR=/some/dir sh install.sh"
        dir=$HOME/.local/bin
    fi
    case $dir in
        /*) ;;
        *) dir=$(pwd)/$dir ;;
    esac
    while [ "$dir" != "${dir%/}" ] && [ "$dir" != / ]; do dir=${dir%/}; done
}

# The link is our mark: it is made before the plugin and removed after it, so a plugin without it is not from here.
link_is_ours() {
    [ -L "$dir/$completion" ] || return 1
    case $(readlink "$dir/$completion") in
        "$plugin" | "$dir/$plugin") return 0 ;;
        *) return 1 ;;
    esac
}

exists() { [ -e "$1" ] || [ -L "$1" ]; }

prepare_dir() {
    choose_other="Choose another directory: INSTALL_DIR=/some/dir sh install.sh"
    mkdir -p -- "$dir" 2>/dev/null || fail "cannot create the directory $dir" "$choose_other"
    { [ -w "$dir" ] && [ -x "$dir" ]; } || fail "cannot write to $dir" "$choose_other"
    if exists "$dir/$plugin" && { [ -L "$dir/$plugin" ] || [ ! -f "$dir/$plugin" ]; }; then
        fail "$dir/$plugin exists and is not a plain file, so it was not put there by this script." \
            "Remove it, or choose another directory with INSTALL_DIR."
    fi
    if exists "$dir/$completion" && ! link_is_ours; then
        fail "$dir/$completion exists and does not point to $plugin, so it was not put there by this script." \
            "Remove it, or choose another directory with INSTALL_DIR."
    fi
}

sha256_of() {
    if have sha256sum; then
        sha256sum <"$1" | cut -d ' ' -f 1
    elif have shasum; then
        shasum -a 256 <"$1" | cut -d ' ' -f 1
    else
        fail "neither sha256sum nor shasum was found, so the archive cannot be checked." \
            "Install one of them (Debian: coreutils, others: perl) and try again."
    fi
}

# Sets $built to the plugin unpacked from $ARCHIVE.
from_archive() {
    have tar || fail "tar was not found." "Install it and try again."
    # Checked and unpacked from a copy of our own, so that both see the same bytes.
    cp -- "$ARCHIVE" "$scratch/archive" || fail "cannot read the archive $ARCHIVE"

    want=${SHA256-}
    if [ -z "$want" ]; then
        [ -r "$ARCHIVE.sha256" ] || fail "no checksum for $ARCHIVE, so it is not installed." \
            "Put $ARCHIVE.sha256 beside it, or pass the checksum: SHA256=… (both are published with the archive)."
        # `sha256sum` writes "sum  name"; only the sum counts, the file may have been renamed since.
        # read fails on a line without an end, yet fills the variable; the length below decides.
        read -r want _ <"$ARCHIVE.sha256" || true
    fi
    want=$(printf %s "$want" | tr 'ABCDEF' 'abcdef')
    [ ${#want} -eq 64 ] || fail "the checksum given for $ARCHIVE is not a sha256, so it is not installed." \
        "A sha256 has 64 hexadecimal digits; this has ${#want} characters."
    got=$(sha256_of "$scratch/archive")
    [ "$want" = "$got" ] || fail "the checksum of $ARCHIVE is wrong, so it is not installed." \
        "expected $want" "found    $got" "Download the archive again; if it stays wrong, do not use it."

    tar -tzf "$scratch/archive" >"$scratch/names" 2>/dev/null || fail "$ARCHIVE is not a .tar.gz archive."
    member=
    while IFS= read -r name; do
        case $name in "$plugin" | "./$plugin") member=$name ;; esac
    done <"$scratch/names"
    [ -n "$member" ] || fail "$ARCHIVE does not hold $plugin."
    mkdir "$scratch/unpacked"
    (cd "$scratch/unpacked" && tar -xzf ../archive "$member") || fail "cannot unpack $ARCHIVE"
    built=$scratch/unpacked/$plugin
    { [ -f "$built" ] && [ ! -L "$built" ]; } || fail "$plugin in $ARCHIVE is not a plain file."
}

# Sets $built to the plugin built from the checkout that holds this script.
from_checkout() {
    root=$(cd -- "$(dirname -- "$0")" && pwd)
    [ -f "$root/Cargo.toml" ] || fail "there is no source beside this script ($root)." \
        "Run it from a checkout, or install a release archive: ARCHIVE=FILE.tar.gz sh install.sh"
    have cargo || fail "cargo, which builds the plugin, was not found." \
        "Get it from https://rustup.rs and try again, or install without building:" \
        "ARCHIVE=FILE.tar.gz sh install.sh"

    say "Building $plugin; the first time takes a few minutes."
    # cargo says itself where the program is: the place depends on settings that we need not know.
    if ! (cd "$root" && cargo build --release --locked -p "$plugin" --message-format=json-render-diagnostics) \
        >"$scratch/cargo"; then
        if have cc; then hint="The lines above say why."; else
            hint="A C compiler (cc) was not found; it is needed to link. Debian: build-essential, macOS: xcode-select --install."
        fi
        fail "the build failed; nothing was installed." "$hint"
    fi
    built=$(sed -n "s|.*\"executable\":\"\([^\"]*/$plugin\)\".*|\1|p" "$scratch/cargo" | tail -n 1)
    [ -f "$built" ] || fail "the build did not say where $plugin is; nothing was installed."
}

# Puts $built and the link in place. Each name changes in one step, so a plugin in use is never half there.
put() {
    new_link=$dir/.$completion.$$
    new_plugin=$dir/.$plugin.$$
    { cp -- "$built" "$new_plugin" && chmod 755 "$new_plugin"; } || fail "cannot write to $dir; nothing was installed."

    # 126 and 127 are the shell's words for "cannot run this"; whatever else the program answers is its own matter.
    code=0
    "$new_plugin" --help >/dev/null 2>&1 </dev/null || code=$?
    if [ "$code" -eq 126 ] || [ "$code" -eq 127 ]; then
        fail "this $plugin does not run here ($(uname -s) $(uname -m)); nothing was installed." \
            "It was built for another system, or programs may not be run from $dir."
    fi

    ln -s "$plugin" "$new_link" || fail "cannot make a link in $dir; nothing was installed."
    mv -f -- "$new_link" "$dir/$completion"
    mv -f -- "$new_plugin" "$dir/$plugin"
}

notes() {
    case ":${PATH-}:" in
        *":$dir:"* | *":$dir/:"*)
            first=$(command -v "$plugin" || true)
            case $first in
                '' | "$dir/$plugin" | "$dir//$plugin") ;;
                *) say "Note: kubectl will use $first, which comes earlier on your PATH." ;;
            esac
            ;;
        *)
            say "Note: $dir is not on your PATH, so kubectl will not find the plugin. Add this line to your shell's start file:"
            say "  export PATH=\"$dir:\$PATH\""
            ;;
    esac
    if have kubectl; then
        say "Try: kubectl reserve --help"
    else
        say "Note: kubectl was not found on your PATH; the plugin also runs by itself: $plugin --help"
    fi
}

install_plugin() {
    choose_dir
    prepare_dir
    scratch=$(mktemp -d) || fail "cannot make a temporary directory." "Set TMPDIR to a directory that can be written."
    if [ -n "${ARCHIVE-}" ]; then from_archive; else from_checkout; fi
    put
    say "Installed $dir/$plugin and the completion link $completion."
    notes
}

uninstall_plugin() {
    choose_dir
    if ! exists "$dir/$plugin" && ! exists "$dir/$completion"; then
        say "Nothing to remove: $plugin is not installed in $dir."
        return
    fi
    link_is_ours || fail "$dir/$completion is missing or does not point to $plugin." \
        "So what is in $dir was not put there by this script; nothing was removed."
    if exists "$dir/$plugin" && { [ -L "$dir/$plugin" ] || [ ! -f "$dir/$plugin" ]; }; then
        fail "$dir/$plugin is not a plain file, so it was not put there by this script; nothing was removed."
    fi
    { rm -f -- "$dir/$plugin" && rm -f -- "$dir/$completion"; } || fail "cannot remove the files in $dir"
    say "Removed $plugin and $completion from $dir."
}

action=install_plugin
for argument in "$@"; do
    case $argument in
        -h | --help) usage && exit 0 ;;
        --uninstall) action=uninstall_plugin ;;
        *)
            printf 'install.sh: unknown argument %s\n\n' "$argument" >&2
            usage >&2
            exit 2
            ;;
    esac
done
$action
