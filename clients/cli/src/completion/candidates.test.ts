import { expect, test } from 'vitest'
import { commands } from '../commands/command-table.ts'
import { candidatesAt } from './candidates.ts'

const at = (line: string) => candidatesAt(commands, line.split(' '))
const words = (line: string) => at(line).words.map(({ word }) => word)

test('a noun says which verbs it has, and a command what it does', () => {
  const said = new Map(at('').words.map(({ word, summary }) => [word, summary]))
  expect(said.get('calls')).toBe('list, tail')
  expect(said.get('wallet')).toBe(commands.find(({ name }) => name === 'wallet')!.summary)
})

test('the value of an option is never a verb, an operand or another option', () => {
  expect(at('login --url ')).toMatchObject({ words: [], offered: null })
  expect(at('login --url --')).toMatchObject({ words: [], offered: null })
  expect(at('flows push --dir ')).toMatchObject({ words: [], offered: 'folders' })
  expect(at('keys create x --write-env=')).toMatchObject({ words: [], offered: 'files', prefix: '--write-env=' })
})

test('what a line has said by now is known, however it was said', () => {
  expect([...at('flows run --dir=a --json --input {} ').given]).toEqual([
    ['dir', 'a'],
    ['json', ''],
    ['input', '{}'],
  ])
  expect(words('flows run --dir a --')).not.toContain('--dir')
  expect(words('flows run --dir=a --')).not.toContain('--dir')
})

test('an operand is offered once, or as often as there may be one', () => {
  expect(at('flows run ').offered).toBe('flows')
  expect(at('flows run summary ').offered).toBeNull()
  expect(at('flows push one two ').offered).toBe('flows')
  expect(words('completion ')).toEqual(['bash', 'zsh', 'fish'])
})

test('behind -- there are only operands', () => {
  expect(words('completion -- ')).toEqual(['bash', 'zsh', 'fish'])
  expect(words('keys list -- --')).toEqual([])
})

test('what is not a command has nothing but its help, and all of it a version', () => {
  expect(words('nothing ')).toEqual([])
  expect(words('keys nothing ')).toEqual([])
  expect(words('keys --')).toEqual(['--help'])
  expect(words('--')).toEqual(['--help', '--version'])
})
