import { CommandFailure } from './command-failure.ts'
import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'

/** Everything that a command reaches outside of itself. Data goes to `write`, messages for users to `say`. */
export interface Io {
  env: Readonly<Record<string, string | undefined>>
  folder: string
  homeFolder: string
  platform: string
  /** How this command is started: a program and its file. */
  program: readonly [string, string]
  /** Which of the three streams are terminals with a user. */
  isTerminal: { input: boolean; output: boolean; words: boolean }
  write(text: string): void
  /** Waits until the output is written. False if it was lost, because a disk is full or no one reads it. */
  isWritten(): Promise<boolean>
  say(text: string): void
  /** Prints a line that replaces the one before; only if `say` goes to a terminal. */
  progress(text: string): void
  /** Reads all of standard input. */
  readInput(): Promise<string>
  /** Reads a line from the terminal; `hidden` does not show it. @throws the reason of the signal */
  ask(question: string, options?: { hidden?: boolean; signal?: AbortSignal }): Promise<string>
  openBrowser(address: string): void
  wait(ms: number): Promise<void>
  now(): number
}

interface Asked {
  input: NodeJS.ReadableStream
  output: NodeJS.WritableStream
  /** Hides the input. */
  hidden: boolean
  signal?: AbortSignal | undefined
}

/**
 * Reads the line that a user types; empty if the input is closed.
 * @param onInterrupt called on Ctrl-C
 * @throws the reason of the signal
 */
export function askLine({ input, output, hidden, signal }: Asked, onInterrupt: () => void): Promise<string> {
  const nowhere = new Writable({ write: (_part, _encoding, done) => done() })
  const lines = createInterface({ input, output: hidden ? nowhere : output, terminal: true })
  return new Promise((resolve, reject) => {
    const abort = () => {
      reject(signal!.reason as Error)
      lines.close()
    }
    signal?.addEventListener('abort', abort)
    lines.once('line', (line) => {
      resolve(line)
      lines.close()
    })
    lines.once('close', () => {
      signal?.removeEventListener('abort', abort)
      if (hidden) output.write('\n')
      resolve('')
    })
    lines.once('SIGINT', onInterrupt)
  })
}

/**
 * Asks for confirmation before a destructive change, unless `--yes` is given.
 * @throws CommandFailure if the user declines, or if there is no terminal
 */
export async function confirm({ io, options }: { io: Io; options: { yes?: unknown } }, what: string): Promise<void> {
  if (options.yes === true) return
  if (!io.isTerminal.input)
    throw new CommandFailure(`${what} Confirming needs a terminal.`, 'Confirm with --yes', 'usage')
  const answer = await io.ask(`${what} Continue? [y/N] `)
  if (!/^y(es)?$/i.test(answer.trim()))
    throw new CommandFailure('Cancelled. Nothing was changed.', 'Answer y, or add --yes')
}
