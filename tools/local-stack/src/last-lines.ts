import { readFileSync } from 'node:fs'

/** The end of a log file, indented for the screen. Empty if there is none. */
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
