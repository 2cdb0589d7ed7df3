import { expect, test } from 'vitest'
import { recordStored } from './store-body.ts'

const recorded = { recorded: true }
const refused = { refused: { code: 'quota_reached' } }
const unknown = new Error('no answer')

/** Records an asset with a ledger that gives these answers, one per request, an error being an unknown outcome. */
async function record(...answers: (object | Error)[]) {
  const removed: string[] = []
  const left = [...answers]
  const ask = async () => {
    const next = left.shift()!
    if (next instanceof Error) throw next
    return next
  }
  const store = { remove: async (project: string, id: string) => void removed.push(`${project} ${id}`) }
  const answer = await recordStored(store, { project: 'prj_1', id: 'ast_1' }, ask).catch((error: unknown) => error)
  return { answer, removed, left }
}

test('keeps recorded bytes, and removes refused ones before it answers', async () => {
  expect(await record(recorded)).toMatchObject({ answer: recorded, removed: [] })
  expect(await record(refused)).toMatchObject({ answer: refused, removed: ['prj_1 ast_1'] })
})

test.each([
  { outcome: 'recorded', later: recorded, gone: [] },
  { outcome: 'refused', later: refused, gone: ['prj_1 ast_1'] },
])('keeps bytes of an unknown outcome until the ledger says that they were $outcome', async ({ later, gone }) => {
  const { answer, removed, left } = await record(unknown, unknown, later)
  expect([answer, removed]).toEqual([unknown, []])
  await expect.poll(() => left.length, { timeout: 10_000 }).toBe(0)
  await expect.poll(() => removed).toEqual(gone)
})
