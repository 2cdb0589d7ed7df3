interface Waits<Outcome> {
  dropAtMs: number
  deferrals: number
  ambiguous: boolean
  answer: (outcome: Outcome) => void
  /** How its copies are answered; the copies themselves may be large. */
  copies?: ((outcome: Outcome) => void)[]
}

/** Has the first of two items with one id answered for both, and wait for as long as either may. */
export function joinCopy<Outcome>(first: Waits<Outcome>, copy: Waits<Outcome>): void {
  const { answer, copies = [] } = first
  if (first.copies === undefined)
    first.answer = (outcome) => {
      answer(outcome)
      for (const answerCopy of copies) answerCopy(outcome)
    }
  first.copies = copies
  copies.push(copy.answer)
  first.dropAtMs = Math.max(first.dropAtMs, copy.dropAtMs)
  first.deferrals = Math.max(first.deferrals, copy.deferrals)
  first.ambiguous ||= copy.ambiguous
}
