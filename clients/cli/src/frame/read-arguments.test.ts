import { describe, expect, test } from 'vitest'
import { commands } from '../commands/command-table.ts'
import { readArguments } from './read-arguments.ts'

const read = (line: string) => readArguments(commands, line.split(' ').filter(Boolean))

describe('readArguments recognizes a request for help', () => {
  test.for(['', '--help', '-h', 'help', 'help --help', '-h help -h'])('for everything: %j', (line) => {
    expect(read(line)).toEqual({ kind: 'help', of: '' })
  })
  test.for(['flows --help', 'flows -h', 'flows help', 'help flows', '--help flows', 'help -h flows'])(
    'for a noun: %j',
    (line) => {
      expect(read(line)).toEqual({ kind: 'help', of: 'flows' })
    },
  )
  test.for(['flows push --help', 'flows push summary -h', 'help flows push', '-h flows push'])(
    'for one command: %j',
    (line) => {
      expect(read(line)).toMatchObject({ kind: 'help', of: { name: 'flows push' } })
    },
  )
})

test('readArguments recognizes a request for the version', () => {
  expect(read('--version')).toEqual({ kind: 'version' })
})

describe('readArguments refuses an unknown command or option and suggests a similar one', () => {
  test.for([
    ['flows pus', 'Unknown command flows pus.', /^Did you mean gateway flows push\? Use one of: gateway flows init, /],
    [
      'flow push x',
      'Unknown command flow push.',
      /^Did you mean gateway flows push\? List the commands: gateway --help$/,
    ],
    ['wallets', 'Unknown command wallets.', /^Did you mean gateway wallet\? /],
    ['flow --json', 'Unknown command flow.', /^Did you mean gateway flows\? /],
    ['help nothing', 'Unknown command nothing.', /^List the commands: gateway --help$/],
    ['x', 'Unknown command x.', /^List the commands: gateway --help$/],
    ['flows', 'gateway flows needs a verb.', /^Use one of: gateway flows init, /],
    ['flows --json', 'gateway flows needs a verb.', /^Use one of: gateway flows init, /],
    ['flows push --chek', "Unknown option '--chek'.", /^Did you mean --check\? Write it as: gateway flows push /],
    ['flows push --nothing', "Unknown option '--nothing'.", /^Write it as: gateway flows push /],
    ['flows push -x', "Unknown option '-x'.", /^Write it as: gateway flows push /],
  ] as const)('%s', ([line, message, resolution]) => {
    expect(() => read(line)).toThrow(
      expect.objectContaining({ message, resolution: expect.stringMatching(resolution) as string }) as Error,
    )
  })
})
