import { spawn } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { findShell } from '@gateway/testbed/find-program'

export const shells = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof shells)[number]

/** A candidate and its description, which is empty in bash. */
export type Candidate = [word: string, summary: string]

interface Interactive {
  /** Startup file: name and content. */
  start: [name: string, text: string]
  program(home: string): [string, ...string[]]
  /** Keys typed after a line to list its completions. */
  keys: string
  read(shown: string, line: string): Candidate[]
}

/** Printed when the shell is ready and after each response. */
const MARK = '\u001E'

const interactive: Readonly<Record<Shell, Interactive>> = {
  // `\e*` inserts all candidates into the line, which is then printed.
  bash: {
    start: [
      '.bashrc',
      String.raw`PS1=
bind 'set enable-bracketed-paste off'
eval "$(gateway completion bash)"
tell() { printf '\n%s\036' "$READLINE_LINE"; READLINE_LINE=; }
bind -x '"\C-t": tell'
printf '\036'`,
    ],
    program: (home) => atTerminal(`bash --noprofile --rcfile ${home}/.bashrc -i`),
    keys: '\u001B*\u0014',
    read(shown, line) {
      const whole = shown.split('\n').at(-1)!
      if (whole === line) return []
      return wordsOf(whole.slice(line.search(/[^ =]*$/)))
    },
  },
  // Reads the list from the screen, which is large enough for it. The shell is ready when it edits the next line:
  // before that the terminal echoes what is typed.
  zsh: {
    start: [
      '.zshrc',
      String.raw`PROMPT='' LISTMAX=0
unset zle_bracketed_paste; unsetopt prompt_sp
stty rows 200 cols 500
autoload -Uz compinit && compinit -u -D
eval "$(gateway completion zsh)"
tell() { zle list-choices; zle -R; print -n '\x1d'; zle send-break }
zle-line-init() { print -n '\x1e' }
zle -N tell; zle -N zle-line-init
bindkey '^T' tell`,
    ],
    program: () => atTerminal('zsh -i'),
    keys: '\u0014',
    read(shown, line) {
      const list = stripVTControlCharacters(shown.split('\u001D')[0]!).split(`${line}\r\r\n`).at(-1)!
      const rows = list.split(/\r+\n?/).filter((row) => !line.startsWith(row.trimEnd()))
      return rows.flatMap((row) => (row.includes(' -- ') ? [pair(row.split(/ +-- /))] : wordsOf(row)))
    },
  },
  // fish gives scripts the same candidates as a terminal.
  fish: {
    start: [
      'ask.fish',
      String.raw`gateway completion fish | source
printf '\036'
while read -l line
  complete -C "$line"
  printf '\036'
end`,
    ],
    program: (home) => ['fish', '-N', `${home}/ask.fish`],
    keys: '\n',
    read: (shown) =>
      shown
        .split('\n')
        .filter(Boolean)
        .map((row) => pair(row.split('\t'))),
  },
}

/** Runs a command on a pseudoterminal, with `script` of Linux. */
function atTerminal(command: string): [string, ...string[]] {
  return ['script', '-qec', command, '/dev/null']
}

const pair = ([word = '', summary = '']: string[]): Candidate => [word, summary]
const wordsOf = (text: string) =>
  text
    .split(/ +/)
    .filter(Boolean)
    .map((word) => pair([word]))

/** Opens a shell at a terminal with the completion script of `gateway` loaded. Its settings are written to `HOME`. */
export async function openShell(shell: Shell, { folder, env }: { folder: string; env: Record<string, string> }) {
  const { start, program, keys, read } = interactive[shell]
  const home = env['HOME']!
  await findShell(shell)
  await writeFile(path.join(home, start[0]), start[1])
  const [file, ...args] = program(home)
  const child = spawn(file, args, { cwd: folder, env: { ...env, TERM: 'xterm' } })
  const answers = answersOf(child.stdout.setEncoding('utf8'))
  await answers.next()
  return {
    /** Completions of the last word of a line, sorted. */
    async candidates(line: string): Promise<Candidate[]> {
      child.stdin.write(line + keys)
      return read((await answers.next()).value, line).toSorted(([a], [b]) => (a < b ? -1 : 1))
    },
    close: () => void child.kill('SIGHUP'),
  }
}

/** @throws Error with the shell's output if the shell exits */
async function* answersOf(output: AsyncIterable<string>): AsyncGenerator<string, string> {
  let text = ''
  for await (const part of output) {
    const parts = (text + part).split(MARK)
    text = parts.pop()!
    yield* parts
  }
  throw new Error(`The shell exited: ${text}`)
}
