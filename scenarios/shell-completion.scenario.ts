import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test as base } from 'vitest'
import { findShell } from '@gateway/testbed/find-program'
import { buildCommandLine } from '@gateway/cli/build-command-line'
import { commands } from '@gateway/cli/command-table'
import { openShell, shells, type Candidate, type Shell } from './src/command-line/interactive-shells.ts'

// Completion in bash, zsh and fish at a terminal, with the script that `gateway completion` writes for each.

const run = promisify(execFile)

/** Profile names are user input. */
const profile = { url: 'https://gateway.example', token: 'svu_none' }
const names = ['work', 'at home', '$(touch made-by-a-name)', "it's", '`touch made-by-a-name`']
const profiles = Object.fromEntries(names.map((name) => [name, profile]))

const test = base
  // oxlint-disable-next-line no-empty-pattern -- vitest reads from the pattern what a fixture needs
  .extend('machine', { scope: 'file' }, async ({}, { onCleanup }) => {
    const home = await mkdtemp(path.join(tmpdir(), 'gateway-shells-'))
    onCleanup(() => rm(home, { recursive: true, force: true }))
    const folder = path.join(home, 'work')
    for (const one of ['bin', '.config/gateway', 'work/other']) await mkdir(path.join(home, one), { recursive: true })
    const program = await buildCommandLine(home)
    await writeFile(path.join(home, 'bin/gateway'), `#!/bin/sh\nexec '${process.execPath}' '${program}' "$@"\n`, {
      mode: 0o755,
    })
    await writeFile(path.join(home, '.config/gateway/profiles.json'), JSON.stringify(profiles))
    for (const file of ['summary.flow.json', 'weekly-report.flow.json', 'notes.txt', 'other/draft.flow.json'])
      await writeFile(path.join(folder, file), '{}')
    const env = { PATH: `${path.join(home, 'bin')}:${process.env['PATH']}`, HOME: home, ZDOTDIR: home }
    return { folder, env }
  })
  .extend('open', ({ machine }, { onCleanup }) => async (shell: Shell) => {
    const opened = await openShell(shell, machine)
    onCleanup(opened.close)
    return opened
  })

/** Command lines with the candidates from the command table; choices have no summary. */
function* linesOfTable(): Generator<[line: string, candidates: Candidate[]]> {
  const verbs = Map.groupBy(commands, ({ name }) => name.split(' ')[0]!)
  for (const [noun, rows] of verbs)
    if (rows[0]!.name !== noun)
      yield [`gateway ${noun} `, rows.map(({ name, summary }) => [name.split(' ')[1]!, summary])]
  for (const { name, operands, options } of commands) {
    yield [`gateway ${name} --`, Object.entries(options).map(([option, { summary }]) => [`--${option}`, summary])]
    const choices = (row?: { choices?: readonly string[] }) => (row?.choices ?? []).map((word): Candidate => [word, ''])
    if (operands[0]?.choices) yield [`gateway ${name} `, choices(operands[0])]
    for (const [option, row] of Object.entries(options))
      if ('choices' in row) yield [`gateway ${name} --${option} `, choices(row)]
  }
}

/** Sorted base names: shells differ on trailing slashes and leading folders. */
const words = (candidates: Candidate[]) => candidates.map(([word]) => path.basename(word)).toSorted()

test.for(shells)(
  '%s completes the verbs, options and choices of every command from the command table',
  async (shell, { open }) => {
    const { candidates } = await open(shell)
    const nouns = new Set(commands.map(({ name }) => name.split(' ')[0]!))
    expect(words(await candidates('gateway '))).toEqual([...nouns].toSorted())
    for (const [line, expected] of linesOfTable()) {
      const shown = await candidates(line)
      expect([line, words(shown)]).toEqual([line, words(expected)])
      if (shell !== 'bash') expect(new Map(shown)).toEqual(new Map(expected))
    }
  },
)

const lines: [line: string, words: string[]][] = [
  ['gateway k', ['keys']],
  ['gateway keys ro', ['rotate']],
  ['gateway keys list --st', ['--state']],
  ['gateway keys list --state A', ['Active']],
  ['gateway wallet --json --project demo --', ['--help', '--organization', '--profile', '--yes']],
  ['gateway keys list --project demo --st', ['--state']],
  ['gateway login --url ', []],
  ['gateway login --url k', []],
  ['gateway login --organi', []],
  ['gateway keys revoke ', []],
  ['gateway wallet k', []],
  ['gateway nothing ', []],
  ['gateway mcp install summary --client c', ['claude-code', 'claude-desktop', 'cursor']],
  ['gateway flows push ', ['summary', 'weekly-report']],
  ['gateway flows push summary w', ['weekly-report']],
  ['gateway flows run --dir other ', ['draft']],
  ['gateway flows push --dir o', ['other']],
  ['gateway keys create x --write-env n', ['notes.txt']],
  ['gateway keys create x --write-env other/d', ['draft.flow.json']],
  ['gateway wallet --profile ', ['work']],
  ['gateway completion bash k', []],
]

test.for(shells)('%s completes partial words, local files and profiles', async (shell, { open, machine }) => {
  const { candidates } = await open(shell)
  for (const [line, expected] of lines) expect([line, words(await candidates(line))]).toEqual([line, expected])
  expect((await readdir(machine.folder)).toSorted()).not.toContain('made-by-a-name')
})

test.for([
  ['bash', 'Active', 'notes.txt'],
  ['zsh', '--state=Active', 'notes.txt'],
  ['fish', '--state=Active', '--write-env=notes.txt'],
] as const)('%s completes after an equals sign', async ([shell, state, file], { open }) => {
  const { candidates } = await open(shell)
  expect(words(await candidates('gateway keys list --state=A'))).toEqual([state])
  expect(words(await candidates('gateway keys create x --write-env=n'))).toEqual([file])
})

test.for(shells)('the completion script for %s passes its syntax check', async (shell, { machine: { env } }) => {
  const file = path.join(env.HOME, `script.${shell}`)
  await writeFile(file, (await run('gateway', ['completion', shell], { env })).stdout)
  await expect(run(await findShell(shell), ['-n', file], { env })).resolves.toEqual({ stdout: '', stderr: '' })
})
