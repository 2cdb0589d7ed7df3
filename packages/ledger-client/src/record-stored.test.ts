import { expect, test } from 'vitest'
import type { AssetRecordAnswer } from '@gateway/ledger-protocol/flow-reads'
import { LedgerRejected, LedgerUnavailable } from './call-operation.ts'
import { recordStored } from './record-stored.ts'

const asset = { id: 'ast_1', project: 'prj_1', mimeType: 'image/png' as const, bytes: 8 }
const recorded = { recorded: true, project: 'prj_1' } as const
const refused = { refused: { code: 'quota_reached' } } as AssetRecordAnswer
const unknown = new LedgerUnavailable({ why: 'unavailable' })
const rejected = new LedgerRejected('/assets/record', 400, '')

/** Records an asset with a ledger that answers like this, one question after the other. */
async function record(answers: (AssetRecordAnswer | Error)[], first?: () => Promise<AssetRecordAnswer>) {
  const seen: string[] = []
  const left = [...answers]
  const recordAsset = async () => {
    const next = left.shift()!
    if (next instanceof Error) throw next
    return next
  }
  const remove = async (project: string, id: string) => void seen.push(`removed ${project} ${id}`)
  const answer = await recordStored(
    { ledger: { recordAsset }, assetStore: { remove } },
    { ...asset, caller: { project: 'prj_1', user: 'usr_1' } },
    { ...(first && { first }), onLate: async () => void seen.push('late') },
  ).catch((error: unknown) => error)
  return { answer, seen, left }
}

test('keeps recorded bytes, and removes what will never be recorded before it answers', async () => {
  expect(await record([recorded])).toMatchObject({ answer: recorded, seen: [] })
  expect(await record([refused])).toMatchObject({ answer: refused, seen: ['removed prj_1 ast_1'] })
  expect(await record([rejected])).toMatchObject({ answer: rejected, seen: ['removed prj_1 ast_1'] })
  expect(await record([], () => Promise.reject(unknown))).toMatchObject({ seen: ['removed prj_1 ast_1'] }) // never asked
})

test.each([
  { outcome: 'they were recorded', later: recorded, seen: ['late'] },
  { outcome: 'they are refused', later: refused, seen: ['removed prj_1 ast_1'] },
  { outcome: 'they are rejected', later: rejected, seen: ['removed prj_1 ast_1'] },
])('keeps bytes of an unknown outcome until the ledger says that $outcome', async ({ later, seen }) => {
  const found = await record([unknown, unknown, later])
  expect([found.answer, found.seen]).toEqual([unknown, []])
  await expect.poll(() => found.left.length, { timeout: 10_000 }).toBe(0)
  await expect.poll(() => found.seen).toEqual(seen)
})
