import { expect, inject } from 'vitest'
import { newPrompt, stackTest as test } from '../stack.fixture.ts'

const CALLS = 2_000 * inject('propertyShare')
const CLIENTS = 64

/** Returns 12 KB of prose, different on each call. */
function prose(): string {
  const name = newPrompt()
  const sentence = `The report of ${name} says that each of them was seen twice in the evening, and no one knows why. `
  return sentence.repeat(Math.ceil(12_288 / sentence.length)).slice(0, 12_288)
}

// spec: 4.2/s5
test(`serves all of ${CALLS} 12 KB prompts to a model with a 16k context`, { timeout: 180_000 }, async ({ tenant }) => {
  const model = await tenant.sell({
    tokenizer: 'o200k_base',
    contextLength: 16_384,
    maxOutputTokens: 4_096, // default cap without max_tokens; too large if 12 KB counted as 12k tokens
    requestPico: 1_000_000n,
  })
  const statuses = new Map<number, number>()
  let left = CALLS
  const client = async () => {
    while (left-- > 0) {
      const answer = await tenant.chat({ model, messages: [{ role: 'user', content: prose() }] })
      await answer.arrayBuffer()
      statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1)
    }
  }
  await Promise.all(Array.from({ length: CLIENTS }, client))
  expect([...statuses]).toEqual([[200, CALLS]])
})
