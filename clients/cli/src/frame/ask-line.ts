import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'

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
