import { ApiRefusal, Unreachable } from '@gateway/api-client/failures'
import { openSession } from '../session/session.ts'
import { CommandFailure, exitCodes } from './command-failure.ts'
import type { CommandRow } from './command-row.ts'
import { helpOf } from './help.ts'
import type { Io } from './io.ts'
import { readArguments } from './read-arguments.ts'

/** Does what the arguments say, and answers with what the process ends with. */
export async function runCommand(commands: readonly CommandRow[], args: readonly string[], io: Io): Promise<number> {
  try {
    const read = readArguments(commands, args)
    if (read.kind === 'help') {
      io.write(helpOf(commands, read.of))
      return exitCodes.done
    }
    const { row, operands, options } = read
    const session = openSession(io, options)
    return (await row.handle({ operands, options, io, session, commands })) ?? exitCodes.done
  } catch (error) {
    return tell(error, io)
  }
}

/** Every refusal says what clears it, and the id by which support finds it. */
function tell(error: unknown, io: Io): number {
  if (error instanceof ApiRefusal) {
    const at = error.param === null ? '' : ` (${error.param})`
    io.say(`Refused, ${error.code}${at}: ${error.message}`)
    io.say(`Resolution: ${error.resolution}`)
    if (error.requestId !== null) io.say(`Request: ${error.requestId}`)
    if (error.status !== 401) return exitCodes.refused
    io.say('Sign in: gateway login, or put a token that is valid into GATEWAY_TOKEN.')
    return exitCodes.signIn
  }
  if (error instanceof CommandFailure) {
    io.say(error.message)
    io.say(`Resolution: ${error.resolution}`)
    return error.exitCode
  }
  if (error instanceof Unreachable) {
    io.say(error.message)
    io.say('Resolution: Look whether the address is right (GATEWAY_URL, or gateway whoami) and the service is up.')
    return exitCodes.refused
  }
  throw error
}
