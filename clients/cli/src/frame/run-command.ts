import manifest from '../../package.json' with { type: 'json' }
import { openSession } from '../session/session.ts'
import { exitCodes } from './command-failure.ts'
import type { CommandRow } from './command-row.ts'
import { helpOf } from './help.ts'
import type { Io } from './io.ts'
import { readArguments } from './read-arguments.ts'
import { printFailure } from './print-failure.ts'

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
