// Looks that many askers share, such as the polls of all followers of one execution.
//   L1  Askers with the same question share a look that starts after each of them has asked. So each sees all that was
//       true when it asked.
//   L2  Per question, one look is under way at a time. Those who ask meanwhile share the next one.
//   L3  Looks start together, after the events of this turn: askers that wait for the same instant share them, and
//       their queries can be batched.

/** @param look questions with the same JSON are the same question */
export function openSharedLook<Question, Answer>(
  look: (question: Question) => Promise<Answer>,
): (question: Question) => Promise<Answer> {
  const asked = new Map<string, { question: Question; answer: PromiseWithResolvers<Answer> }>()
  const underWay = new Set<string>()
  let scheduled = false

  function schedule(): void {
    if (scheduled) return
    scheduled = true
    setImmediate(start) // L3
  }

  function start(): void {
    scheduled = false
    for (const [name, { question, answer }] of asked) {
      if (underWay.has(name)) continue // L2
      asked.delete(name)
      underWay.add(name)
      void run(name, question, answer)
    }
  }

  async function run(name: string, question: Question, answer: PromiseWithResolvers<Answer>): Promise<void> {
    try {
      answer.resolve(await look(question))
    } catch (error) {
      answer.reject(error)
    }
    underWay.delete(name)
    if (asked.has(name)) schedule()
  }

  return (question) => {
    const name = JSON.stringify(question)
    const waiting = asked.get(name) // L1
    if (waiting) return waiting.answer.promise
    const one = { question, answer: Promise.withResolvers<Answer>() }
    asked.set(name, one)
    schedule()
    return one.answer.promise
  }
}
