import type { CommandRow } from './command-row.ts'

export const shells = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof shells)[number]

/** The script of each shell, of what the table of commands has. All that is in it are words of the table. */
export const completionScripts: Readonly<Record<Shell, (commands: readonly CommandRow[]) => string>> = {
  bash: bashScript,
  // zsh reads what bash does.
  zsh: (commands) => `autoload -U +X bashcompinit && bashcompinit\n${bashScript(commands)}`,
  fish: fishScript,
}

function bashScript(commands: readonly CommandRow[]): string {
  const nouns = nounsOf(commands)
  const cases = [
    ...nouns.map((noun) => [noun, verbsOf(commands, noun).join(' ')] as const).filter(([, verbs]) => verbs !== ''),
    ...commands.map((row) => [row.name, wordsOf(row).join(' ')] as const),
  ]
  return `_gateway() {
  local noun="\${COMP_WORDS[1]}" verb="\${COMP_WORDS[2]}" current="\${COMP_WORDS[COMP_CWORD]}" words=""
  if [ "$COMP_CWORD" -eq 1 ]; then words="${nouns.join(' ')}"
  else
    case "$noun" in ${nouns.filter((noun) => verbsOf(commands, noun).length > 0).join('|')}) ;; *) verb="" ;; esac
    if [ "$COMP_CWORD" -eq 2 ]; then verb=""; fi
    case "$noun\${verb:+ $verb}" in
${cases.map(([name, words]) => `      "${name}") words="${words}" ;;`).join('\n')}
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _gateway gateway
`
}

function fishScript(commands: readonly CommandRow[]): string {
  const nouns = nounsOf(commands)
  const line = (when: string, rest: string) => `complete -c gateway -n '${when}' ${rest}`
  return [
    ...nouns.map((noun) => line('__fish_use_subcommand', `-f -a '${noun}'`)),
    ...nouns.flatMap((noun) =>
      verbsOf(commands, noun).map((verb) =>
        line(`__fish_seen_subcommand_from ${noun}; and test (count (commandline -opc)) -eq 2`, `-f -a '${verb}'`),
      ),
    ),
    ...commands.flatMap(({ name, options }) =>
      Object.entries(options).map(([option, row]) => {
        const seen = name.split(' ').map((word) => `__fish_seen_subcommand_from ${word}`)
        const choices = row.type === 'boolean' ? '' : row.choices ? ` -x -a '${row.choices.join(' ')}'` : ' -r'
        return line(seen.join('; and '), `-l ${option}${choices}`)
      }),
    ),
    '',
  ].join('\n')
}

const nounsOf = (commands: readonly CommandRow[]) => [...new Set(commands.map(({ name }) => name.split(' ')[0]!))]

function verbsOf(commands: readonly CommandRow[], noun: string): string[] {
  return commands.flatMap(({ name }) => (name.startsWith(`${noun} `) ? [name.split(' ')[1]!] : []))
}

function wordsOf({ operands, options }: CommandRow): string[] {
  return [...operands.flatMap(({ choices }) => choices ?? []), ...Object.keys(options).map((name) => `--${name}`)]
}
