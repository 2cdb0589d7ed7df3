import { describe, expect, test } from 'vitest'
import { openQuarantine } from './quarantine.ts'

const error = new Error('violates a check')

function open() {
  let nowMs = 1_000_000
  const quarantine = openQuarantine({ now: () => nowMs })
  return { ...quarantine, later: (ms: number) => void (nowMs += ms) }
}

describe('a quarantined item', () => {
  test('is remembered by its id, and given up after three refusals', () => {
    const memory = open()
    expect(memory.find('inv_1')).toBeNull()
    for (const givenUp of [false, false, true]) {
      memory.refused('inv_1', null, error)
      expect(memory.find('inv_1')).toEqual({ givenUp, error: 'violates a check' })
    }
    expect(memory.find('inv_2')).toBeNull()
  })

  test('is retried after a back-off that doubles up to two minutes', () => {
    const memory = open()
    const waits: number[] = []
    for (let refusals = 0; refusals < 10; refusals++) {
      memory.refused('inv_1', null, error)
      let waitedMs = 0
      for (; !memory.mayTry('inv_1'); waitedMs += 1_000) memory.later(1_000)
      waits.push(waitedMs / 1_000)
    }
    expect(waits).toEqual([1, 2, 4, 8, 16, 32, 64, 120, 120, 120])
  })

  test('is retried at most once a second across all items', () => {
    const memory = open()
    const ids = Array.from({ length: 50 }, (_, n) => `inv_${n}`)
    for (const id of ids) memory.refused(id, null, error)
    memory.later(1_000)
    expect(ids.filter((id) => memory.mayTry(id))).toEqual(['inv_0'])
    memory.later(999)
    expect(ids.filter((id) => memory.mayTry(id))).toEqual([])
    memory.later(1)
    expect(ids.filter((id) => memory.mayTry(id))).toHaveLength(1)
  })

  test('is retried at once after another retry succeeded, because a common cause may be over', () => {
    const memory = open()
    const ids = Array.from({ length: 50 }, (_, n) => `inv_${n}`)
    for (const id of ids) memory.refused(id, null, error)
    memory.later(1_000)
    for (const id of ids) {
      expect(memory.mayTry(id)).toBe(true)
      memory.decided(id, true)
    }
  })

  test('is forgotten once it is decided, or after a quarter of an hour without a refusal', () => {
    const memory = open()
    memory.refused('inv_1', null, error)
    memory.refused('inv_2', null, error)
    memory.decided('inv_1', false)
    expect([memory.find('inv_1'), memory.find('inv_2')]).toEqual([null, expect.anything()])
    memory.later(900_001)
    expect(memory.find('inv_2')).toBeNull()
  })
})

describe('quarantined items of one project', () => {
  const group = 'closings prj_1'

  function withBrokenProject() {
    const memory = open()
    for (const id of ['inv_1', 'inv_2', 'inv_3']) memory.refused(id, group, error)
    return memory
  }

  test('quarantine the whole project from the third item on', () => {
    const memory = open()
    memory.refused('inv_1', group, error)
    memory.refused('inv_1', group, error)
    memory.refused('inv_2', group, error)
    expect(memory.find('inv_9', [group])).toBeNull()
    memory.refused('inv_3', group, error)
    expect(memory.find('inv_9', [group])).toMatchObject({ givenUp: true })
    expect(memory.find('inv_9', ['admissions prj_1', 'closings prj_2'])).toBeNull()
  })

  test('share one back-off: after a refusal none of them is retried until it is over', () => {
    const memory = withBrokenProject()
    expect(memory.mayTry('inv_9', [group])).toBe(false)
    memory.later(4_000)
    expect(memory.mayTry('inv_9', [group])).toBe(true)
    memory.refused('inv_9', group, error)
    memory.later(7_999)
    expect(['inv_1', 'inv_8', 'inv_9'].filter((id) => memory.mayTry(id, [group]))).toEqual([])
    memory.later(1)
    expect(['inv_1', 'inv_8', 'inv_9'].filter((id) => memory.mayTry(id, [group]))).toEqual(['inv_1'])
  })

  test('are all forgotten once one of them is decided, even one known only by its project', () => {
    const memory = withBrokenProject()
    memory.belongs('inv_9', group)
    expect(memory.find('inv_9')).not.toBeNull()
    memory.decided('inv_9', true)
    expect(['inv_1', 'inv_2', 'inv_9'].map((id) => memory.find(id, [group]))).toEqual([null, null, null])
  })

  test('stay remembered if what was decided wrote nothing that they share', () => {
    const memory = withBrokenProject()
    memory.decided('inv_1', false)
    for (const id of ['inv_1', 'inv_2', 'inv_9']) expect(memory.find(id, [group])).not.toBeNull()
  })
})

test('a batch that timed out is split if one of its items timed out before', () => {
  const memory = open()
  expect(memory.ranOutOfTime(['inv_1', 'inv_2'])).toBe(false)
  expect(memory.ranOutOfTime(['inv_3'])).toBe(false)
  expect(memory.ranOutOfTime(['inv_4', 'inv_2'])).toBe(true)
})
