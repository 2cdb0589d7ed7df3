import { parseArgs } from 'node:util'
import { CommandFailure } from './command-failure.ts'
import type { CommandRow, Given, OperandRow } from './command-row.ts'

export type ReadArguments =
  | { kind: 'help'; of: CommandRow | string }
  | ({ kind: 'command'; row: CommandRow } & Pick<Given, 'operands' | 'options'>)

/**
 * The command that these arguments name, and what they give it.
 * @throws CommandFailure where they are none, with what is right
 */
export function readArguments(commands: readonly CommandRow[], args: readonly string[]): ReadArguments {
  const row = rowOf(commands, args)
  if (!row) return helpOrRefusal(commands, args)
  const { values, positionals } = parsed(row, args.slice(row.name.split(' ').length))
  if (values['help'] === true) return { kind: 'help', of: row }
  checkOperands(row, positionals)
  for (const [name, option] of Object.entries(row.options))
    if (option.type === 'string' && option.choices) oneOf(row, `--${name}`, values[name], option.choices)
  return { kind: 'command', row, operands: positionals, options: values as Given['options'] }
}

/** The command that a line begins with. */
export function rowOf(commands: readonly CommandRow[], [noun = '', verb = '']: readonly string[]): CommandRow | null {
  return commands.find(({ name }) => name === `${noun} ${verb}`) ?? commands.find(({ name }) => name === noun) ?? null
}

function helpOrRefusal(commands: readonly CommandRow[], [noun, verb]: readonly string[]): ReadArguments {
  if (noun === undefined || noun === '--help' || noun === 'help') return { kind: 'help', of: '' }
  const verbs = commands.filter(({ name }) => name.startsWith(`${noun} `)).map(({ name }) => name.split(' ')[1]!)
  if (verbs.length === 0)
    throw new CommandFailure(`There is no command ${noun}.`, 'Ask for the commands: gateway --help', 'usage')
  if (verb === '--help') return { kind: 'help', of: noun }
  const message = verb === undefined ? `gateway ${noun} needs a verb.` : `There is no command ${noun} ${verb}.`
  throw new CommandFailure(message, `Use one of: ${verbs.map((each) => `gateway ${noun} ${each}`).join(', ')}`, 'usage')
}

function parsed(row: CommandRow, args: string[]) {
  const options = Object.fromEntries(Object.entries(row.options).map(([name, { type }]) => [name, { type }]))
  try {
    return parseArgs({ args, options, allowPositionals: true })
  } catch (error) {
    throw wrong(row, (error as Error).message.split('. ')[0]!.replace(/\.?$/, '.'))
  }
}

function checkOperands(row: CommandRow, given: readonly string[]): void {
  row.operands.forEach((operand, n) => {
    const isMissing = given[n] === undefined ? !operand.optional : given[n] === '' && !operand.mayBeEmpty
    if (isMissing) throw wrong(row, `gateway ${row.name} needs ${operand.name}: ${operand.summary}.`)
    if (operand.choices) oneOf(row, operand.name, given[n], operand.choices)
  })
  if (given.length > row.operands.length && !row.operands.at(-1)?.several)
    throw wrong(row, `gateway ${row.name} takes no ${JSON.stringify(given[row.operands.length])}.`)
}

function oneOf(row: CommandRow, name: string, value: unknown, choices: readonly string[]): void {
  if (value === undefined || choices.some((choice) => choice === value)) return
  throw wrong(row, `${name} can't be ${JSON.stringify(value)}: it is one of ${choices.join(', ')}.`)
}

function wrong(row: CommandRow, message: string): CommandFailure {
  return new CommandFailure(message, `Write it as: ${usageOf(row)}`, 'usage')
}

/** How a command is written, in a line. */
export function usageOf({ name, operands, options }: Pick<CommandRow, 'name' | 'operands' | 'options'>): string {
  const rest = Object.keys(options).length > 0 ? ' [options]' : ''
  return ['gateway', name, ...operands.map(written)].join(' ') + rest
}

function written({ name, optional, several }: OperandRow): string {
  const shown = `<${name}>${several ? '…' : ''}`
  return optional ? `[${shown}]` : shown
}
