export interface Screen {
  /** Shows that something begins, and how long it took when it is done. Passes on what `work` answers or throws. */
  step<Result>(name: string, work: () => Promise<Result>): Promise<Result>
  /** A separate line, at any time. */
  print(line: string): void
  /** The same, set back: something about the step that runs. */
  note(line: string): void
}

interface Output {
  write(text: string): unknown
  isTTY?: boolean
}

/** Progress for a user: on a terminal each step fills in its own line, elsewhere it is written when it is done. */
export function createScreen(output: Output, now: () => number): Screen {
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
