import { parseArgs, type ParseArgsOptionsConfig } from 'node:util'
import { closestMatch } from 'leven'
import { CommandFailure } from './command-failure.ts'
import type { CommandRow, Given, OperandRow } from './command-row.ts'

export type ReadArguments =
  | { kind: 'help'; of: CommandRow | string }
  | { kind: 'version' }
  | ({ kind: 'command'; row: CommandRow } & Pick<Given, 'operands' | 'options'>)

/**
 * Returns the command that these arguments name, and its options and operands.
 * @throws CommandFailure if they are invalid, with the correct usage
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

/** The command at the beginning of a line. */
export function rowOf(commands: readonly CommandRow[], [noun = '', verb = '']: readonly string[]): CommandRow | null {
  return commands.find(({ name }) => name === `${noun} ${verb}`) ?? commands.find(({ name }) => name === noun) ?? null
}

const HELP = new Set(['help', '--help', '-h'])

function helpOrRefusal(commands: readonly CommandRow[], args: readonly string[]): ReadArguments {
  const [noun, verb] = args
  if (noun === '--version') return { kind: 'version' }
  const others = args.filter((word) => !HELP.has(word))
  if (others.length === 0) return { kind: 'help', of: '' }
  if (noun === undefined || HELP.has(noun)) return readArguments(commands, [...others, '--help'])
  const ofNoun = commands.map(({ name }) => name).filter((name) => name.startsWith(`${noun} `))
  if (ofNoun.length > 0 && verb !== undefined && HELP.has(verb)) return { kind: 'help', of: noun }
  const given = verb === undefined || verb.startsWith('-') ? noun : `${noun} ${verb}`
  const resolution =
    ofNoun.length > 0
      ? `Use one of: ${ofNoun.map((name) => `gateway ${name}`).join(', ')}`
      : 'List the commands: gateway --help'
  if (ofNoun.length > 0 && given === noun)
    throw new CommandFailure(`gateway ${noun} needs a verb.`, resolution, 'usage')
  const names = commands.flatMap(({ name }) => [name, name.split(' ')[0]!])
  throw new CommandFailure(`Unknown command ${given}.`, didYouMean(given, names, 'gateway ') + resolution, 'usage')
}

function parsed(row: CommandRow, args: string[]) {
  const options: ParseArgsOptionsConfig = Object.fromEntries(
    Object.entries(row.options).map(([name, { type }]) => [name, name === 'help' ? { type, short: 'h' } : { type }]),
  )
  try {
    return parseArgs({ args, options, allowPositionals: true })
  } catch (error) {
    const message = (error as Error).message.split('. ')[0]!.replace(/\.?$/, '.')
    const [, unknown] = /^Unknown option '--([^']+)'/.exec(message) ?? []
    throw wrong(row, message, unknown === undefined ? '' : didYouMean(unknown, Object.keys(options), '--'))
  }
}

/** The most similar name as a question; empty if none is similar. */
function didYouMean(written: string, names: readonly string[], before: string): string {
  const near = closestMatch(written, names, { maxDistance: Math.max(1, Math.floor(written.length / 3)) })
  return near === undefined ? '' : `Did you mean ${before}${near}? `
}

function checkOperands(row: CommandRow, given: readonly string[]): void {
  row.operands.forEach((operand, n) => {
    const isMissing = given[n] === undefined ? !operand.optional : given[n] === '' && !operand.mayBeEmpty
    if (isMissing) throw wrong(row, `gateway ${row.name} needs ${operand.name}: ${operand.summary}.`)
    if (operand.choices) oneOf(row, operand.name, given[n], operand.choices)
  })
  if (given.length > row.operands.length && !row.operands.at(-1)?.several)
    throw wrong(row, `gateway ${row.name} does not take ${JSON.stringify(given[row.operands.length])}.`)
}

function oneOf(row: CommandRow, name: string, value: unknown, choices: readonly string[]): void {
  if (value === undefined || choices.some((choice) => choice === value)) return
  throw wrong(row, `${name} can't be ${JSON.stringify(value)}: it is one of ${choices.join(', ')}.`)
}

function wrong(row: CommandRow, message: string, meant = ''): CommandFailure {
  return new CommandFailure(message, `${meant}Write it as: ${usageOf(row)}`, 'usage')
}

/** The usage of a command, in one line. */
export function usageOf({ name, operands, options }: Pick<CommandRow, 'name' | 'operands' | 'options'>): string {
  const rest = Object.keys(options).length > 0 ? ' [options]' : ''
  return ['gateway', name, ...operands.map(written)].join(' ') + rest
}

function written({ name, optional, several }: OperandRow): string {
  const shown = `<${name}>${several ? '…' : ''}`
  return optional ? `[${shown}]` : shown
}
