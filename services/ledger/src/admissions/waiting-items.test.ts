import { describe, expect, test } from 'vitest'
import type { AdmitNodeItem } from '@gateway/ledger-protocol/flow-items'
import type { AdmitItem } from '@gateway/ledger-protocol/ledger-items'
import {
  type AdmissionItem,
  callerOf,
  type ClosingItem,
  openProjectCache,
  type Outcome,
  type Waiting,
  WaitingItems,
} from './waiting-items.ts'

const limits = { items: 10, bytes: 1_000, admissionsAtLeast: 4 }

function waiting<T extends AdmissionItem | ClosingItem>(item: Partial<T>): Waiting<T> {
  return { item: item as T, sinceMs: 0, dropAtMs: Infinity, deferrals: 0, outcomeUnknown: false, answer: () => {} }
}
const openItems = () => new WaitingItems({ now: () => 0, drop: () => {} })
let named = 0
const admission = (id: string) => waiting<AdmitItem>({ op: 'admit', id })
const unidentified = (keyHash: string, id = `inv-${named++}`) => waiting<AdmitItem>({ op: 'admit', id, keyHash })
const release = (id: string) => waiting<ClosingItem>({ op: 'release', id, reason: 'test' })
const expire = (id: string) => waiting<ClosingItem>({ op: 'expire', id })

describe('the next batch', () => {
  test('takes projects in turn, so that a load of one delays another by one turn only', () => {
    const items = openItems()
    for (let n = 0; n < 100; n++) items.addAdmission('load', admission(`load-${n}`))
    items.addAdmission('single', admission('single'))
    expect(items.take(limits).admissions.map(({ item }) => item.id)).toContain('single')
  })

  test('gives a flood of unknown keys one quarter, and what the projects leave of the other three', () => {
    const items = openItems()
    for (let n = 0; n < 100; n++) items.addAdmission(null, unidentified(`hash-${n}`))
    for (let n = 0; n < 20; n++) items.addAdmission('load', admission(`load-${n}`))
    items.addAdmission('single', admission('single'))
    expect(items.unidentified).toBe(100)
    const { admissions } = items.take({ items: 12, bytes: 1_000, admissionsAtLeast: 4 })
    expect(admissions.slice(0, 9).map(({ item }) => item.id)).toContain('single')
    expect(admissions.slice(9).map(({ item }) => callerOf(item))).toEqual(['hash-0', 'hash-1', 'hash-2'])
    // Unknown keys also get what the projects leave.
    while (items.take(limits).admissions.some(({ item }) => item.id.startsWith('load')));
    expect(items.take(limits).admissions).toHaveLength(10)
  })

  test('includes a new key despite a thousand projects and the load of another new key', () => {
    const items = openItems()
    for (let n = 0; n < 1_000; n++) items.addAdmission(`project-${n}`, admission(`p-${n}`))
    for (let n = 0; n < 1_000; n++) items.addAdmission(null, unidentified('load'))
    items.addAdmission(null, unidentified('new'))
    expect(items.take(limits).admissions.map(({ item }) => callerOf(item))).toContain('new')
  })

  test('takes the items of a key in the turns of its project, in order, once that project is known', () => {
    const items = openItems()
    for (let n = 0; n < 3; n++) items.addAdmission(null, unidentified('new', `new-${n}`))
    items.addAdmission(null, unidentified('other', 'other'))
    items.addAdmission('p', admission('a'))
    items.introduce('new', 'p')
    items.introduce('no one waits under this one', 'p')
    expect([items.unidentified, items.size]).toEqual([1, 5])
    expect(items.take(limits).admissions.map(({ item }) => item.id)).toEqual(['a', 'new-0', 'new-1', 'new-2', 'other'])
  })

  test('takes the items of an execution in the turns of its project, once that project is known', () => {
    const node = (execution: string, id: string) => waiting<AdmitNodeItem>({ op: 'admit-node', id, execution })
    const items = openItems()
    for (let n = 0; n < 100; n++) items.addAdmission(null, node('exe_crowd', `load-${n}`))
    items.addAdmission(null, node('exe_new', 'new'))
    items.addAdmission('p', admission('direct'))
    const taken = () => items.take(limits).admissions.map(({ item }) => item.id)
    expect(taken().slice(0, 3)).toEqual(['direct', 'load-0', 'new'])
    items.introduce('exe_crowd', 'p')
    items.addAdmission('p', admission('behind it'))
    items.addAdmission('q', admission('alongside it'))
    expect([items.unidentified, taken().includes('alongside it')]).toEqual([0, true])
  })

  test('knows the project of a key even after a hundred thousand executions, which are cached separately', () => {
    const cache = openProjectCache()
    const key = { op: 'admit', keyHash: 'hash' } as AdmitItem
    expect([cache.get(key), cache.add(key, 'p'), cache.add(key, 'p')]).toEqual([null, true, false])
    const run = (n: number) => ({ op: 'admit-node', execution: `exe_${n}` }) as AdmitNodeItem
    for (let n = 0; n < 100_000; n++) cache.add(run(n), 'q')
    expect([cache.get(key), cache.get(run(99_999)), cache.get(run(0))]).toEqual(['p', 'q', null])
    expect(cache.addExecution('exe_1', 'q')).toBe(true)
  })

  test('keeps the order of arrival within a project', () => {
    const items = openItems()
    for (let n = 0; n < 25; n++) items.addAdmission('p', admission(`a-${n}`))
    const order = [items.take(limits), items.take(limits), items.take(limits)].flatMap(({ admissions }) =>
      admissions.map(({ item }) => item.id),
    )
    expect(order).toEqual(Array.from({ length: 25 }, (_, n) => `a-${n}`))
  })

  test('takes closings first and leaves room for admissions', () => {
    const items = openItems()
    for (let n = 0; n < 20; n++) items.addClosing(release(`c-${n}`))
    for (let n = 0; n < 20; n++) items.addAdmission(`p${n}`, admission(`a-${n}`))
    const batch = items.take(limits)
    expect([batch.closings.length, batch.admissions.length]).toEqual([6, 4])
  })

  test('is filled with closings if no admissions wait', () => {
    const items = openItems()
    for (let n = 0; n < 20; n++) items.addClosing(release(`c-${n}`))
    expect(items.take(limits).closings).toHaveLength(10)
    expect(items.size).toBe(10)
  })

  test('contains an id only once; the later item waits for the batch after it', () => {
    const items = openItems()
    items.addClosing(release('same'))
    items.addClosing(expire('same'))
    items.addAdmission('p', admission('same'))
    items.addAdmission('p', admission('other'))
    const first = items.take(limits)
    expect([first.closings.length, first.admissions.map(({ item }) => item.id)]).toEqual([1, ['other']])
    expect(items.take(limits).closings).toHaveLength(1)
    expect(items.take(limits).admissions).toHaveLength(1)
    expect(items.size).toBe(0)
  })

  test('is limited by the bytes of the saved answers', () => {
    const items = openItems()
    for (let n = 0; n < 5; n++)
      items.addClosing(
        waiting<ClosingItem>({
          op: 'settle',
          id: `s-${n}`,
          usage: { promptTokens: 1, completionTokens: 1, estimated: false },
          answer: { contentType: 'text/plain', body: 'x'.repeat(600) },
        }),
      )
    expect(items.take(limits).closings).toHaveLength(2)
  })
})

describe('a waiting item', () => {
  test('is dropped once its time is over, regardless of its kind and its turn', () => {
    let nowMs = 0
    const dropped: string[] = []
    const items = new WaitingItems({ now: () => nowMs, drop: ({ item }) => void dropped.push(item.id) })
    const until = <T extends AdmissionItem | ClosingItem>(entry: Waiting<T>, dropAtMs: number) => ({
      ...entry,
      dropAtMs,
    })
    items.addClosing(until(release('c-1'), 10))
    items.addClosing(until(release('c-2'), 20))
    for (const [id, ms] of [
      ['a-1', 10],
      ['a-2', 20],
      ['a-3', 10],
    ] as const)
      items.addAdmission('p', until(admission(id), ms))
    items.addAdmission('q', until(admission('b-1'), 10))
    items.addAdmission(null, until(unidentified('new', 'u-1'), 10))
    nowMs = 10
    items.dropLate()
    expect(dropped.toSorted()).toEqual(['a-1', 'a-3', 'b-1', 'c-1', 'u-1'])
    expect([items.size, items.admissions, items.unidentified, items.oldestMs]).toEqual([2, 1, 0, 10])
    const { closings, admissions } = items.take(limits)
    expect([...closings, ...admissions].map(({ item }) => item.id)).toEqual(['c-2', 'a-2'])
    expect([items.size, items.oldestMs]).toEqual([0, 0])
  })

  test('takes one place if a closing is sent a thousand times: the first copy is decided, and all are answered', () => {
    const outcomes: string[] = []
    const items = openItems()
    const copies = Array.from({ length: 1_000 }, (_, n) => ({
      ...release('same'),
      dropAtMs: 5_000 + n,
      answer: ({ kind }: Outcome) => void outcomes.push(`${n} ${kind}`),
    }))
    for (const copy of copies) items.addClosing(copy)
    expect(items.size).toBe(1)
    const { closings } = items.take(limits)
    expect(closings).toEqual([copies[0]])
    expect(closings[0]!.dropAtMs).toBe(5_999)
    closings[0]!.answer({ kind: 'released' })
    expect(outcomes).toEqual(copies.map((_, n) => `${n} released`))
  })
})
