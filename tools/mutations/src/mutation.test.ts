import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { fitting, mutations } from './mutations.ts'
import { mutate, type Mutation } from './mutation.ts'

const bound: Mutation = {
  id: 'bound',
  rule: 'A call waits at most a minute.',
  file: 'wait.ts',
  find: 'ms > limit',
  replace: 'ms >= $& limit',
  tests: ['wait'],
}

describe('a mutation', () => {
  test('replaces its text literally', () => {
    expect(mutate('if (ms > limit) leave()', bound)).toEqual({
      kind: 'mutated',
      text: 'if (ms >= $& limit) leave()',
    })
  })

  test.for([
    ['if (ms >= limit) leave()', 0],
    ['if (ms > limit || other.ms > limit) leave()', 2],
  ] as const)('is unfit if its text does not occur exactly once: %s', ([text, count]) => {
    expect(mutate(text, bound)).toEqual({ kind: 'unfit', count })
  })

  test('that does not fit is reported with its file and the reason', async () => {
    const files: Record<string, string> = {
      'wait.ts': 'ms > limit',
      'twice.ts': 'ms > limit, ms > limit',
      'none.ts': '',
    }
    const asked = ['wait.ts', 'twice.ts', 'none.ts', 'gone.ts'].map((file) => ({ ...bound, file }))
    const looked = await fitting(async (file) => files[file] ?? null, asked)
    expect(looked.map(({ unfit }) => unfit)).toEqual([
      null,
      { message: expect.stringContaining('bound: twice.ts has the text of `find` 2 times'), missing: false },
      { message: expect.stringContaining('bound: none.ts has the text of `find` 0 times'), missing: true },
      { message: expect.stringContaining('bound: gone.ts is not there'), missing: true },
    ])
  })
})

test('the list has sixty rules and more, each with a unique name and a real change', () => {
  expect(mutations.length).toBeGreaterThanOrEqual(60)
  expect(new Set(mutations.map(({ id }) => id)).size).toBe(mutations.length)
  expect(mutations.filter(({ find, replace }) => find === replace)).toEqual([])
  expect(mutations.filter(({ tests, rule }) => tests.length === 0 || !rule.endsWith('.'))).toEqual([])
})

test('every mutation fits the code', async () => {
  const root = path.join(import.meta.dirname, '../../..')
  const looked = await fitting((file) => readFile(path.join(root, file), 'utf8').catch(() => null), mutations)
  expect(looked.flatMap(({ unfit }) => unfit?.message ?? [])).toEqual([])
})
