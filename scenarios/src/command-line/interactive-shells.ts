import { spawn } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { findShell } from '@gateway/testbed/shell-binary'

export const shells = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof shells)[number]

/** A candidate, and what is said of it; bash says nothing. */
export type Candidate = [word: string, summary: string]

interface Interactive {
  /** What the shell reads as it starts, and the name of that file. */
  start: [name: string, text: string]
  program(home: string): [string, ...string[]]
  /** Typed behind a line, so that it shows what the last word may become. */
  keys: string
  read(shown: string, line: string): Candidate[]
}

/** Said when a shell is ready, and behind each answer. */
const MARK = '\u001E'

const interactive: Readonly<Record<Shell, Interactive>> = {
  // `\e*` writes all candidates into the line, which is then told.
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
  // What is read is the list on the screen, which is large enough for all of it.
  zsh: {
    start: [
      '.zshrc',
      String.raw`PROMPT='' LISTMAX=0
unset zle_bracketed_paste; unsetopt prompt_sp
stty rows 200 cols 500
autoload -Uz compinit && compinit -u -D
eval "$(gateway completion zsh)"
tell() { zle list-choices; zle -R; print -n '\x1e'; zle send-break }
zle -N tell
bindkey '^T' tell
print -n '\x1e'`,
    ],
    program: () => atTerminal('zsh -i'),
    keys: '\u0014',
    read(shown, line) {
      const list = stripVTControlCharacters(shown).split(`${line}\r\r\n`).at(-1)!
      const rows = list.split(/\r+\n?/).filter((row) => !line.startsWith(row.trimEnd()))
      return rows.flatMap((row) => (row.includes(' -- ') ? [pair(row.split(/ +-- /))] : wordsOf(row)))
    },
  },
  // fish answers scripts what it shows at a terminal.
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

/** By `script` of Linux. */
function atTerminal(command: string): [string, ...string[]] {
  return ['script', '-qec', command, '/dev/null']
}

const pair = ([word = '', summary = '']: string[]): Candidate => [word, summary]
const wordsOf = (text: string) =>
  text
    .split(/ +/)
    .filter(Boolean)
    .map((word) => pair([word]))

/** A shell that has read the script of the command `gateway`, at a terminal. `HOME` is where its settings are written. */
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
    /** What the last word of a line may become, in the order of the alphabet. */
    async candidates(line: string): Promise<Candidate[]> {
      child.stdin.write(line + keys)
      return read((await answers.next()).value, line).toSorted(([a], [b]) => (a < b ? -1 : 1))
    },
    close: () => void child.kill('SIGHUP'),
  }
}

/** @throws Error if the shell ends, with what it said */
async function* answersOf(output: AsyncIterable<string>): AsyncGenerator<string, string> {
  let text = ''
  for await (const part of output) {
    const parts = (text + part).split(MARK)
    text = parts.pop()!
    yield* parts
  }
  throw new Error(`The shell has ended: ${text}`)
}
