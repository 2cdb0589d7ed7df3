export const shells = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof shells)[number]

// Each script asks the command itself for candidates (completion-answer.ts), one per line, so all shells offer the
// same. No script evaluates a candidate. `:files` and `:folders` are left to the shell. The bash script also supports
// bash 3.2, which has no `mapfile` and no `compopt`: there it completes no files.

const bash = `_gateway() {
  local candidate
  COMPREPLY=()
  while IFS= read -r candidate; do
    case "$candidate" in
      :files) compopt -o default 2>/dev/null ;;
      :folders) compopt -o dirnames 2>/dev/null ;;
      *) COMPREPLY+=("$candidate") ;;
    esac
  done < <(gateway completion bash -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _gateway gateway
`

const zsh = `#compdef gateway
(( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
_gateway() {
  local -a candidates
  candidates=(\${(f)"$(gateway completion zsh -- "\${(@Q)words[2,CURRENT-1]}" "$PREFIX" 2>/dev/null)"})
  case "$candidates[1]" in
    :files) compset -P '--*='; _files ;;
    :folders) compset -P '--*='; _files -/ ;;
    *) _describe -V candidate candidates ;;
  esac
}
if [[ "$funcstack[1]" == _gateway ]]; then _gateway "$@"; else compdef _gateway gateway; fi
`

const fish = `function __gateway_candidates
    set -l words (commandline -opc)
    set -e words[1]
    set -l begun (commandline -ct)
    set -l candidates (gateway completion fish -- $words "$begun" 2>/dev/null)
    set -l option (string match -r -- '^--[^=]+=' "$begun")
    set -l value (string replace -- "$option" '' "$begun")
    switch "$candidates[1]"
        case :files
            __fish_complete_path "$value" | string replace -r -- '^' "$option"
        case :folders
            __fish_complete_directories "$value" | string replace -r -- '^' "$option"
        case '*'
            printf '%s\\n' $candidates
    end
end
complete -c gateway -e
complete -c gateway -f -k -a '(__gateway_candidates)'
`

export const completionScripts: Readonly<Record<Shell, string>> = { bash, zsh, fish }
