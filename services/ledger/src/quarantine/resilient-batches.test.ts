import { openItemBatcher } from '@gateway/service-kit/async/batcher'
import { describe, expect, test } from 'vitest'
import { WrongRow } from '../admissions/classify-error.ts'
import { openResilientBatches, type BatchEntry, type BatchMode } from './resilient-batches.ts'
import { openQuarantine } from './quarantine.ts'

interface Item extends BatchEntry {
  id: string
  answer: (outcome: string) => void
}
type Run = (ids: string[], mode: Pick<BatchMode<Item>, 'shortTimeout' | 'outside' | 'waitForLocks'>) => void

const sqlError = (code: string) => Object.assign(new Error(`SQLSTATE ${code}`), { code })
const violatesCheck = sqlError('23514')
const outOfTime = sqlError('57014')
const lockTimeout = sqlError('55P03')
const connectionLost = sqlError('08006')

/** Opens batches whose `run` throws the errors that Postgres would. */
function open(run: Run, { outside = false, maxItems = 8 } = {}) {
  let nowMs = 0
  const quarantine = openQuarantine({ now: () => nowMs })
  const reported: string[] = []
  const ran: string[] = []
  const batches = openResilientBatches<Item>(
    { quarantine, metrics: { lockedOut: () => void ran.push('locked out') } },
    {
      waitForLocksAfter: 3,
      ...(outside && { wakeAfterOutside: () => void ran.push('wake') }),
      idOf: ({ id }) => id,
      groupsOf: ({ project }) => (project ? [`closings ${project}`] : []),
      partOf: ({ project }) => project ?? '',
      identify: async () => {},
      async run(entries, { passOver: _, onWritten, ...mode }) {
        const ids = entries.map(({ id }) => id)
        ran.push(`${ids.join('')}${mode.shortTimeout ? ' shortTimeout' : ''}${mode.outside ? ' outside' : ''}`)
        run(ids, mode)
        onWritten(true)
        for (const { answer } of entries) answer('done')
      },
      putBack: (entry) => batcher.add(entry),
      drop: ({ answer, outcomeUnknown }) => answer(outcomeUnknown ? 'unknown' : 'unavailable'),
      answerFromMemory: async ({ answer }, { givenUp }) => answer(givenUp ? 'given up' : 'quarantined'),
      report: ({ id }) => void reported.push(id),
    },
  )
  const batcher = openItemBatcher<Item>({ maxItems, run: batches.run })
  const ask = (id: string, project: string | null = null) =>
    new Promise<string>((answer) => {
      const entry = { id, project, deferrals: 0, outcomeUnknown: false, answer }
      if (!batches.take(entry)) batcher.add(entry)
    })
  const askAll = (ids: string, project?: string) => Promise.all(ids.split('').map((id) => ask(id, project)))
  return { ask, askAll, ran, reported, later: (ms: number) => void (nowMs += ms), idle: batches.idle }
}

/** Returns a run whose nth call throws the nth error, if there is one. */
function failing(...errors: (Error | undefined)[]): Run {
  return () => {
    const error = errors.shift()
    if (error) throw error
  }
}

const refuse =
  (...bad: string[]): Run =>
  (ids) => {
    if (ids.some((id) => bad.includes(id))) throw violatesCheck
  }

describe('resilient batches', () => {
  test('retry all items after a transient error', async () => {
    const { askAll, ran, reported } = open(failing(connectionLost))
    expect(await askAll('abc')).toEqual(['done', 'done', 'done'])
    expect([ran, reported]).toEqual([['abc', 'abc'], []])
  })

  test('find one bad item by bisection, quarantine it and decide the others', async () => {
    const { ask, askAll, ran, reported } = open(refuse('c'))
    expect(await askAll('abcdefgh')).toEqual(['done', 'done', 'quarantined', 'done', 'done', 'done', 'done', 'done'])
    expect(ran).toEqual(['abcdefgh', 'abcd', 'ab', 'cd', 'c', 'd', 'efgh'])
    expect(reported).toEqual(['c'])
    expect(await ask('c')).toBe('quarantined')
    expect(ran).toHaveLength(7)
  })

  test('retry an item that is quarantined alone once it is due, and let it join batches again after it succeeds', async () => {
    const bad = ['c']
    const { ask, ran, later } = open((ids) =>
      refuse(...bad)(ids, { shortTimeout: false, outside: false, waitForLocks: false }),
    )
    expect(await ask('c')).toBe('quarantined')
    bad.pop()
    later(1_000)
    expect(await ask('c')).toBe('done')
    expect(await ask('c')).toBe('done')
    expect(ran).toEqual(['c', 'c shortTimeout outside', 'c'])
  })

  test('split between projects first', async () => {
    const { ask, ran } = open(refuse('c'))
    await Promise.all([ask('a', 'p'), ask('b', 'q'), ask('c', 'q'), ask('d', 'p')])
    expect(ran).toEqual(['abcd', 'ad', 'bc', 'b', 'c'])
  })

  test('split a batch that times out twice, with a short timeout for its parts', async () => {
    const { askAll, ran, reported } = open(failing(outOfTime, outOfTime))
    expect(await askAll('ab')).toEqual(['done', 'done'])
    expect([ran, reported]).toEqual([['ab', 'ab', 'a shortTimeout', 'b shortTimeout'], []])
  })

  test('hold up no other item of a project after unusable rows of several items', async () => {
    const { ask, askAll, ran } = open((ids) => {
      if (ids.some((id) => 'abc'.includes(id))) throw new WrongRow('no package')
    })
    expect(await askAll('abc', 'P')).toEqual(['quarantined', 'quarantined', 'quarantined'])
    ran.length = 0
    expect(await ask('d', 'P')).toBe('done')
    expect(ran).toEqual(['d'])
  })

  test('retry an item that timed out on a lock without waiting for locks', async () => {
    const patience: boolean[] = []
    const fail = failing(lockTimeout)
    const { ask, ran } = open((ids, mode) => {
      patience.push(mode.waitForLocks)
      fail(ids, mode)
    })
    expect(await ask('a')).toBe('done')
    expect([ran, patience]).toEqual([
      ['a', 'locked out', 'a'],
      [false, false],
    ])
  })

  test('split the items of one project outside of the batches, and wake the queue afterwards', async () => {
    const { askAll, ran, idle } = open(refuse('b'), { outside: true })
    expect(await askAll('abc', 'p')).toEqual(['done', 'quarantined', 'done'])
    await idle()
    expect(ran).toEqual([
      'abc',
      'ab shortTimeout outside',
      'a shortTimeout outside',
      'b shortTimeout outside',
      'c shortTimeout outside',
      'wake',
    ])
  })
})
