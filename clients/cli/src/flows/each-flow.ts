import { ApiRefusal, Unreachable } from '@gateway/api-client/failures'
import { CommandFailure, exitCodes, SystemFailure } from '../frame/command-failure.ts'
import type { Io } from '../frame/io.ts'
import { printFailure } from '../frame/print.ts'

/**
 * Handles flows in order. One that fails does not stop the others; the reasons are printed at the end. A failure that
 * the others would share, such as a full disk, an unreachable gateway or an ended sign-in, is thrown at once, after the
 * reasons so far are printed.
 * @param outcome what the heading says of several flows that failed
 * @param fileFor name of the file of a flow
 * @returns the exit code
 */
export async function handleEachFlow<Flow>(
  io: Io,
  flows: readonly Flow[],
  outcome: string,
  fileFor: (flow: Flow) => string,
  handle: (flow: Flow) => Promise<void>,
): Promise<number> {
  const failed: { file: string; error: unknown }[] = []
  const printFailed = () => {
    if (failed.length > 1) io.say(`${failed.length} flows ${outcome}:`)
    for (const { file, error } of failed) {
      nameFile(io, file, error)
      printFailure(error, io)
    }
  }
  for (const flow of flows)
    await handle(flow).catch((error: unknown) => {
      const file = fileFor(flow)
      if (concernsOne(error)) return failed.push({ file, error })
      printFailed()
      nameFile(io, file, error)
      throw error
    })
  printFailed()
  return failed.length === 0 ? exitCodes.done : exitCodes.refused
}

function concernsOne(error: unknown): boolean {
  if (error instanceof ApiRefusal) return error.status !== 401
  return error instanceof CommandFailure && !(error instanceof SystemFailure)
}

/** The gateway's refusals do not name the file; our failures do. */
function nameFile(io: Io, file: string, error: unknown): void {
  if (error instanceof ApiRefusal || error instanceof Unreachable) io.say(`${file}:`)
}
