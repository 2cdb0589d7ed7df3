import { writeSync } from 'node:fs'

/**
 * Writes lines to a file descriptor: those of one turn of the event loop in one write, and what is left when the process
 * ends, so that a busy service pays little per line and the last words of a dying one aren't lost.
 */
export function lineWriter(descriptor: number): { write(line: string): void } {
  let waiting = ''

  function flush(): void {
    const lines = waiting
    waiting = ''
    if (lines !== '') writeAll(descriptor, Buffer.from(lines))
  }
  process.on('exit', flush)

  return {
    write(line) {
      if (waiting === '') setImmediate(flush)
      waiting += line
    },
  }
}

/** A pipe whose reader is slow is waited for, as any blocking pipe would be; a reader that has left ends the writing only. */
function writeAll(descriptor: number, bytes: Buffer): void {
  let rest = bytes
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(descriptor, rest))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') return
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1)
    }
  }
}
