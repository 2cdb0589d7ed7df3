import { expect, test } from 'vitest'
import { commands } from '../commands/command-table.ts'
import { candidatesAt } from '../commands/completion.ts'

const at = (line: string) => candidatesAt(commands, line.split(' '))
const words = (line: string) => at(line).words.map(({ word }) => word)

test('completion summarizes a noun by its verbs, and a command by its summary', () => {
  const said = new Map(at('').words.map(({ word, summary }) => [word, summary]))
  expect(said.get('calls')).toBe('list, tail')
  expect(said.get('wallet')).toBe(commands.find(({ name }) => name === 'wallet')!.summary)
})

test('the value of an option is never completed as a verb, an operand or another option', () => {
  expect(at('login --url ')).toMatchObject({ words: [], offered: null })
  expect(at('login --url --')).toMatchObject({ words: [], offered: null })
  expect(at('flows push --dir ')).toMatchObject({ words: [], offered: 'folders' })
  expect(at('keys create x --write-env=')).toMatchObject({ words: [], offered: 'files', prefix: '--write-env=' })
})

test('options already on the line are recognized in every notation, and not offered again', () => {
  expect([...at('flows run --dir=a --json --input {} ').given]).toEqual([
    ['dir', 'a'],
    ['json', ''],
    ['input', '{}'],
  ])
  expect(words('flows run --dir a --')).not.toContain('--dir')
  expect(words('flows run --dir=a --')).not.toContain('--dir')
})

test('an operand is offered once, or repeatedly if the command takes several', () => {
  expect(at('flows run ').offered).toBe('flows')
  expect(at('flows run summary ').offered).toBeNull()
  expect(at('flows push one two ').offered).toBe('flows')
  expect(words('completion ')).toEqual(['bash', 'zsh', 'fish'])
})

test('only operands are offered after --', () => {
  expect(words('completion -- ')).toEqual(['bash', 'zsh', 'fish'])
  expect(words('keys list -- --')).toEqual([])
})

test('a noun alone offers only --help, and the top level also --version', () => {
  expect(words('nothing ')).toEqual([])
  expect(words('keys nothing ')).toEqual([])
  expect(words('keys --')).toEqual(['--help'])
  expect(words('--')).toEqual(['--help', '--version'])
})
