export interface Screen {
  /** Shows the start of a step, and its duration once done. Passes on the result or the error of `work`. */
  step<Result>(name: string, work: () => Promise<Result>): Promise<Result>
  /** Prints a separate line, at any time. */
  print(line: string): void
  /** Prints an indented line about the current step. */
  note(line: string): void
}

interface Output {
  write(text: string): unknown
  isTTY?: boolean
  on?(event: 'error', listener: () => void): unknown
}

/**
 * Progress for a user: on a terminal each step updates its line, elsewhere it is printed once done. Ignores that the
 * output is gone, so that the stack can still stop in order.
 */
export function createScreen(output: Output, now: () => number): Screen {
  output.on?.('error', () => {}) // EPIPE after `npm start | tee log` and Ctrl-C, EIO after a closed terminal
  let open: string | null = null

  function close(text: string): void {
    output.write(output.isTTY && open !== null ? `\r\u001B[K${text}\n` : `${text}\n`)
  }

  function print(line: string): void {
    close(line)
    if (open !== null && output.isTTY) output.write(open)
  }

  return {
    async step(name, work) {
      const startedAt = now()
      open = `  ${name.padEnd(20)}…`
      if (output.isTTY) output.write(open)
      try {
        const result = await work()
        close(`  ${name.padEnd(20)}${((now() - startedAt) / 1000).toFixed(1)} s`)
        return result
      } catch (error) {
        close(`  ${name.padEnd(20)}failed`)
        throw error
      } finally {
        open = null
      }
    },
    print,
    note: (line) => print(`    ${line}`),
  }
}
