import { readFileSync } from 'node:fs'

/** The last lines of a log file, indented for the screen. Empty if there are none. */
export function lastLines(file: string, count: number): string {
  try {
    const lines = readFileSync(file, 'utf8').trimEnd().split('\n')
    return lines
      .slice(-count)
      .map((line) => `    ${line}`)
      .join('\n')
  } catch {
    return ''
  }
}
