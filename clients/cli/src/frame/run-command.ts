import manifest from '../../package.json' with { type: 'json' }
import { openSession } from '../session/session.ts'
import { exitCodes } from './command-failure.ts'
import { type CommandRow, commonOptions, type OptionRow } from './command-row.ts'
import type { Io } from './io.ts'
import { readArguments, usageOf } from './read-arguments.ts'
import { printFailure } from './print.ts'

/** Runs the command that the arguments name, and returns the exit code. */
export async function runCommand(commands: readonly CommandRow[], args: readonly string[], io: Io): Promise<number> {
  try {
    const read = readArguments(commands, args)
    if (read.kind !== 'command') {
      io.write(read.kind === 'help' ? helpOf(commands, read.of) : `gateway ${manifest.version}\n`)
      return exitCodes.done
    }
    const { row, operands, options } = read
    const session = openSession(io, options)
    return (await row.handle({ operands, options, io, session, commands })) ?? exitCodes.done
  } catch (error) {
    return printFailure(error, io)
  }
}

/** The help of a command, of a noun, or of everything (the empty name). */
function helpOf(commands: readonly CommandRow[], of: CommandRow | string): string {
  if (typeof of !== 'string') return helpOfOne(of)
  const shown = commands.filter(({ name }) => of === '' || name.startsWith(`${of} `))
  return [
    `Usage: gateway ${of === '' ? '<command>' : `${of} <verb>`} [options]`,
    '',
    ...lines(shown.map(({ name, summary }) => [name, summary])),
    '',
    'Options of every command:',
    ...lines(Object.entries(commonOptions).map(optionLine)),
    '',
    'Variables: GATEWAY_URL, GATEWAY_TOKEN, GATEWAY_KEY, GATEWAY_ORGANIZATION and GATEWAY_PROJECT override the profile.',
    'Exit codes: 0 success, 1 refused or failed, 2 usage error, 3 sign-in required. Data goes to standard output, messages to standard error.',
    'Help for one command: gateway <command> --help. Version: gateway --version',
    '',
  ].join('\n')
}

function helpOfOne(row: CommandRow): string {
  const { summary, description, operands, options, examples } = row
  const own = Object.entries(options).filter(([name]) => !Object.hasOwn(commonOptions, name))
  const part = (title: string, pairs: [string, string][]) => (pairs.length > 0 ? [title, ...lines(pairs), ''] : [])
  return [
    `${summary}.`,
    ...(description === undefined ? [] : ['', description]),
    '',
    `Usage: ${usageOf(row)}`,
    '',
    ...part(
      'Arguments:',
      operands.map(({ name, summary, choices }) => [name, withChoices(summary, choices)]),
    ),
    ...part('Options:', own.map(optionLine)),
    ...part('Options of every command:', Object.entries(commonOptions).map(optionLine)),
    'Examples:',
    ...examples.map((line) => `  ${line}`),
    '',
  ].join('\n')
}

function optionLine([name, option]: [string, OptionRow]): [string, string] {
  if (option.type === 'boolean') return [`--${name}`, option.summary]
  return [`--${name} <${option.value}>`, withChoices(option.summary, option.choices)]
}

function withChoices(summary: string, choices: readonly string[] | undefined): string {
  return choices ? `${summary}: ${choices.join(', ')}` : summary
}

function lines(pairs: [string, string][]): string[] {
  const width = Math.max(...pairs.map(([name]) => name.length))
  return pairs.map(([name, text]) => `  ${name.padEnd(width)}  ${text}`)
}
