//! Shell scripts that complete `kubectl-reserve`, the program by its own name. `kubectl reserve` needs none of them: kubectl's
//! completion runs the link that `completion install` makes.

/// The first argument with which the scripts call the program; the words follow.
pub(crate) const VERB: &str = "__complete";

/// bash splits words at `=`, so the script joins them again.
pub(crate) const BASH: &str = r#"# bash completion for kubectl-reserve. `kubectl reserve` is completed by kubectl itself.
_kubectl_reserve() {
    local line out directive word words=()
    for word in "${COMP_WORDS[@]:1:COMP_CWORD}"; do
        if [[ ${#words[@]} -gt 0 && ( $word == "=" || ${words[-1]} == --*= ) ]]; then
            words[-1]+=$word
        else
            words+=("$word")
        fi
    done
    out=$("${COMP_WORDS[0]}" __complete "${words[@]}" 2>/dev/null) || return
    directive=${out##*:}
    COMPREPLY=()
    while IFS= read -r line; do
        [[ $line == :* || -z $line ]] || COMPREPLY+=("${line%%$'\t'*}")
    done <<<"$out"
    if ((directive & 2)); then compopt -o nospace; fi
    if ! ((directive & 4)); then compopt -o default; fi
}
complete -F _kubectl_reserve kubectl-reserve
"#;

pub(crate) const ZSH: &str = r#"#compdef kubectl-reserve
# zsh completion for kubectl-reserve. `kubectl reserve` is completed by kubectl itself.
_kubectl_reserve() {
    local line directive
    local -a lines shown
    lines=("${(@f)$(${words[1]} __complete "${(@)words[2,CURRENT]}" 2>/dev/null)}")
    directive=${lines[-1]#:}
    for line in "${(@)lines[1,-2]}"; do
        shown+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}")
    done
    if ((directive & 2)); then
        _describe 'kubectl-reserve' shown -S ''
    elif ((directive & 4)) || ((${#shown})); then
        _describe 'kubectl-reserve' shown
    else
        _files
    fi
}
compdef _kubectl_reserve kubectl-reserve
"#;

pub(crate) const FISH: &str = r#"# fish completion for kubectl-reserve. `kubectl reserve` is completed by kubectl itself.
function __kubectl_reserve
    set -l words (commandline -opc) (commandline -ct)
    $words[1] __complete $words[2..-1] 2>/dev/null | string match -v -r '^:[0-9]+$'
end
complete -c kubectl-reserve -f -a '(__kubectl_reserve)'
"#;

pub(crate) const POWERSHELL: &str = r#"# PowerShell completion for kubectl-reserve. `kubectl reserve` is completed by kubectl itself.
Register-ArgumentCompleter -Native -CommandName 'kubectl-reserve' -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    $words = @($commandAst.CommandElements | Select-Object -Skip 1 | ForEach-Object { "$_" })
    if ($wordToComplete -eq '') { $words += '' }
    & "$($commandAst.CommandElements[0])" __complete @words 2>$null |
        Where-Object { $_ -notmatch '^:\d+$' } |
        ForEach-Object {
            $value, $about = $_ -split "`t", 2
            if (-not $about) { $about = $value }
            [System.Management.Automation.CompletionResult]::new($value, $value, 'ParameterValue', $about)
        }
}
"#;
