import {
  command,
  type Given,
  type CommandRow,
  type Offered,
  type OptionRow,
  type OperandRow,
} from '../frame/command-row.ts'
import { folderOf } from '../flows/open-flows.ts'
import { readProfiles } from '../session/profiles.ts'
import { rowOf } from '../frame/read-arguments.ts'

const shells = ['bash', 'zsh', 'fish'] as const
type Shell = (typeof shells)[number]

// Each script asks the command itself for candidates, one per line, so all shells offer the same. No script evaluates a
// candidate. `:files` and `:folders` are left to the shell. The bash script also supports bash 3.2, which has no
// `mapfile` and no `compopt`: there it completes no files.

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

const completionScripts: Readonly<Record<Shell, string>> = { bash, zsh, fish }

export const completionCommands = [
  command({
    name: 'completion',
    summary: 'Print the completion script of a shell',
    description:
      'bash: eval "$(gateway completion bash)" in ~/.bashrc; zsh: the same with zsh in ~/.zshrc; fish: gateway completion fish | source in ~/.config/fish/config.fish. With words after --, it prints the completions of the last word, as the script asks for.',
    operands: [
      { name: 'shell', summary: 'which one', choices: shells },
      {
        name: 'word',
        summary: 'the line up to the cursor, without gateway',
        optional: true,
        several: true,
        mayBeEmpty: true,
      },
    ],
    examples: [...shells.map((shell) => `gateway completion ${shell}`), 'gateway completion fish -- keys r'],
    async handle({ operands, io, commands }) {
      const [shell, ...line] = operands as [Shell, ...string[]]
      io.write(line.length === 0 ? completionScripts[shell] : await completionAnswer({ commands, io }, shell, line))
    },
  }),
]

/** Format of a candidate per shell: bash has no summaries, and zsh separates them by a colon. */
const written: Readonly<Record<Shell, (candidate: Candidate) => string>> = {
  bash: ({ word }) => word,
  zsh: ({ word, summary }) => (summary === '' ? word : `${word}:${summary}`),
  fish: ({ word, summary }) => (summary === '' ? word : `${word}\t${summary}`),
}

/** Candidates for the last word of a line, for a shell script: one per line, or what the shell completes by itself. */
async function completionAnswer(
  { commands, io }: Pick<Given, 'commands' | 'io'>,
  shell: Shell,
  line: readonly string[],
): Promise<string> {
  const asked = shell === 'bash' ? withoutEqualsSigns(line) : line
  const candidates = candidatesAt(commands, asked)
  if (candidates.offered === 'files' || candidates.offered === 'folders') return `:${candidates.offered}\n`
  const all = [...candidates.words, ...(await namesOf(io, candidates))]
    .filter(({ word }) => isPlain(word))
    .map(({ word, summary }) => ({ word: candidates.prefix + word, summary }))
    // The other shells filter by themselves, as their users have configured.
    .filter(({ word }) => shell !== 'bash' || word.startsWith(asked.at(-1)!))
  return all.map((candidate) => `${written[shell](candidate)}\n`).join('')
}

/** Words that no shell has to quote and every script can trust. */
const isPlain = (word: string) => /^[\w./@-]+$/.test(word)

/** bash splits `--state=Active` into three words, and completes the last one. */
const withoutEqualsSigns = (line: readonly string[]) =>
  line.flatMap((word, n) => (word !== '=' ? [word] : n === line.length - 1 ? [''] : []))

/** Completion reports no failures to the user. */
async function namesOf(io: Given['io'], { offered, given }: Candidates): Promise<Candidate[]> {
  try {
    if (offered === 'flows')
      return (await folderOf({ io, options: { dir: given.get('dir') ?? '.' } })).names.map(nameAlone)
    if (offered === 'profiles') return Object.keys(await readProfiles(io)).map(nameAlone)
    return []
  } catch {
    return []
  }
}

const nameAlone = (word: string): Candidate => ({ word, summary: '' })

interface Candidate {
  word: string
  summary: string
}

interface Candidates {
  words: readonly Candidate[]
  /** Further candidates that the table of commands does not know. */
  offered: Offered | null
  /** Prefix of each candidate, such as `--state=`. */
  prefix: string
  /** Options already on the line: the name and the value. */
  given: ReadonlyMap<string, string>
}

/**
 * Returns the candidates for the last word. @param line the words after `gateway`; the last one is still being typed
 * and may be empty
 */
export function candidatesAt(commands: readonly CommandRow[], line: readonly string[]): Candidates {
  const begun = line.at(-1) ?? ''
  const before = line.slice(0, -1)
  const row = rowOf(commands, before)
  if (!row) return only(begun.startsWith('-') ? optionsOfAll(before) : wordsOfNames(commands, before))
  const { given, operands, open, isOver } = readLine(row, before.slice(row.name.split(' ').length))
  if (open) return valuesOf(open, given)
  const [prefix = '', name = ''] = (!isOver && /^--([^=]+)=/.exec(begun)) || []
  const named = row.options[name]
  if (named) return { ...valuesOf(named, given), prefix }
  const last = row.operands.at(-1)
  const operand = row.operands[operands] ?? (last?.several ? last : undefined)
  if (operand && (isOver || !begun.startsWith('-'))) return valuesOf(operand, given)
  if (isOver || !/^(-|$)/.test(begun)) return only([])
  const left = Object.entries(row.options).filter(([option]) => !given.has(option))
  return only(left.map(([option, { summary }]) => ({ word: `--${option}`, summary })))
}

const help = { word: '--help', summary: 'Show help' }
const version = { word: '--version', summary: 'Show the version' }
const optionsOfAll = (before: readonly string[]) => (before.length === 0 ? [help, version] : [help])

const only = (words: readonly Candidate[], given: Candidates['given'] = new Map()) => ({
  words,
  offered: null,
  prefix: '',
  given,
})

/** Nouns, then verbs. */
function wordsOfNames(commands: readonly CommandRow[], before: readonly string[]): readonly Candidate[] {
  const pairs = commands.map(({ name, summary }) => ({ words: name.split(' '), summary }))
  const verbsOf = (noun: string) => pairs.filter(({ words }) => words[0] === noun)
  if (before.length > 1) return []
  if (before.length === 1) return verbsOf(before[0]!).map(({ words, summary }) => ({ word: words[1]!, summary }))
  return [...new Set(pairs.map(({ words }) => words[0]!))].map((word) => ({
    word,
    summary: verbsOf(word)
      .map(({ words, summary }) => words[1] ?? summary)
      .join(', '),
  }))
}

/** Also reads an invalid line. */
function readLine({ options }: CommandRow, before: readonly string[]) {
  const given = new Map<string, string>()
  let operands = 0
  let waiting: string | null = null
  let isOver = false
  for (const word of before) {
    const [, name = '', value] = /^--([^=]+)(?:=(.*))?$/s.exec(word) ?? []
    if (waiting !== null) given.set(waiting, word)
    if (waiting !== null) waiting = null
    else if (isOver || name === '')
      [operands, isOver] = word === '--' && !isOver ? [operands, true] : [operands + 1, isOver]
    else if (value === undefined && options[name]?.type === 'string') waiting = name
    else given.set(name, value ?? '')
  }
  return { given, operands, isOver, open: waiting === null ? null : options[waiting]! }
}

function valuesOf(row: OptionRow | OperandRow, given: Candidates['given']): Candidates {
  if ('type' in row && row.type === 'boolean') return only([], given)
  const words = (row.choices ?? []).map((word) => ({ word, summary: '' }))
  return { ...only(words, given), offered: row.offered ?? null }
}
