// Lines of progress as the ledger sends them through Redis (flows §4.4): the numbers of the line before them and of the
// last of them, whether the execution has ended with them, then the lines. No lines: they are too large, and are read.

export interface PushedLines {
  /** Number of the line before the first of these. */
  after: number
  /** Number of the last of these. */
  seq: number
  done: boolean
  /** Each with a line feed at its end. */
  lines: string
}

const LINES = 'lines:'

/** Topic of the lines of an execution. */
export const linesTopicOf = (execution: string) => LINES + execution

export const isLinesTopic = (topic: string) => topic.startsWith(LINES)

/** Topic that is notified when someone has lost access to a project. */
export const accessTopicOf = (project: string) => `access:${project}`

/** Longer texts are read from the ledger instead, so that Redis and its subscribers stay fast. */
export const MAX_PUSHED_CHARACTERS = 64 * 1024

export function pushedText({ after, seq, done, lines }: PushedLines): string {
  return `${after} ${seq} ${done ? 1 : 0}\n${lines.length > MAX_PUSHED_CHARACTERS ? '' : lines}`
}

/** Returns null for a text of another form, such as a later release may send. */
export function readPushed(text: string): PushedLines | null {
  const [, after, seq, done] = /^(-?\d+) (\d+) ([01])\n/.exec(text) ?? []
  if (after === undefined) return null
  return { after: Number(after), seq: Number(seq), done: done === '1', lines: text.slice(text.indexOf('\n') + 1) }
}
