import { type PushedLines, readPushed } from '@gateway/ledger-protocol/pushed-lines'

/** Lines that the ledger has sent and the reader does not have yet. */
export interface PushedQueue {
  add(text: string): void
  /**
   * Returns the lines that continue after this one, or null: there are none, or some are missing and must be read.
   */
  take(after: number): PushedLines | null
}

/** Of all waiting texts. Beyond it they are dropped, and read once the reader has caught up. */
const MAX_CHARACTERS = 1024 * 1024

export function openPushedQueue(): PushedQueue {
  let waiting: PushedLines[] = []
  let characters = 0

  function drop(): void {
    waiting = []
    characters = 0
  }

  return {
    add(text) {
      const pushed = readPushed(text)
      if (pushed === null) return
      characters += pushed.lines.length
      if (characters > MAX_CHARACTERS) drop()
      else waiting.push(pushed)
    },
    take(after) {
      const taken: PushedLines = { after, seq: after, done: false, lines: '' }
      for (const pushed of waiting) {
        if (pushed.seq <= taken.seq) continue // the reader has them
        if (pushed.after !== taken.seq || pushed.lines === '') break
        taken.lines += pushed.lines
        taken.seq = pushed.seq
        taken.done = pushed.done
      }
      waiting = waiting.filter(({ seq }) => seq > taken.seq)
      characters = waiting.reduce((sum, { lines }) => sum + lines.length, 0)
      return taken.seq > after ? taken : null
    },
  }
}
