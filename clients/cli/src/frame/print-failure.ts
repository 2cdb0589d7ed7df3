import { ApiRefusal, Unreachable } from '@gateway/api-client/failures'
import { CommandFailure, exitCodes } from './command-failure.ts'
import type { Io } from './io.ts'
import { systemFailure } from './system-failure.ts'

/**
 * Prints why a command failed and its resolution; for a refusal also the request ID for support. Returns the exit code.
 */
export function printFailure(error: unknown, io: Pick<Io, 'say'>): number {
  if (error instanceof ApiRefusal) {
    const at = error.param === null ? '' : ` (${error.param})`
    io.say(`Refused, ${oneLine(`${error.code}${at}: ${error.message}`)}`)
    io.say(`Resolution: ${oneLine(error.resolution)}`)
    if (error.requestId !== null) io.say(`Request: ${error.requestId}`)
    if (error.status !== 401) return exitCodes.refused
    io.say('Sign in: gateway login, or set GATEWAY_TOKEN to a valid token.')
    return exitCodes.signIn
  }
  if (error instanceof Unreachable) {
    io.say(error.message + reasonOf(error))
    io.say('Resolution: Check that the address is right (GATEWAY_URL, or gateway profiles) and the service is up.')
    return exitCodes.refused
  }
  const failure = error instanceof CommandFailure ? error : (systemFailure(error) ?? unexpected(error))
  io.say(failure.message)
  io.say(`Resolution: ${failure.resolution}`)
  return failure.exitCode
}

/** Prevents text of others from looking like a line of ours. */
const oneLine = (text: string) => text.replaceAll(/\s+/g, ' ')

/** The network's reason, such as an expired certificate. */
function reasonOf({ cause }: Error): string {
  if (!(cause instanceof Error)) return ''
  const { code, message } = cause as NodeJS.ErrnoException
  return reasonOf(cause) || ` (${oneLine(message || (code ?? cause.name))})`
}

function unexpected(error: unknown): CommandFailure {
  const [what, at] = ((error as Error).stack ?? String(error)).split(/\n\s*(?=at )/)
  return new CommandFailure(
    `Unexpected error: ${what}${at === undefined ? '' : ` (${at})`}`,
    'Check that the gateway at this address has the version of this command; if so, report these lines',
  )
}
