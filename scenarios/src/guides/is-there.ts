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
