import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const execute = promisify(execFile)

/** Whether a program is on the PATH. */
export function isThere(program: string): Promise<boolean> {
  return execute('which', [program]).then(
    () => true,
    () => false,
  )
}

/** First program that guides need but this machine lacks, or null. */
export async function missingForGuides(): Promise<string | null> {
  for (const program of ['bash', 'curl', 'jq']) if (!(await isThere(program))) return program
  return null
}
