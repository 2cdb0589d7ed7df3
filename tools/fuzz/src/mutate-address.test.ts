import { operationNamed } from '@gateway/testbed/example-request'
import { expect, test } from 'vitest'
import { openChance } from './chance.ts'
import type { Draft } from './draft.ts'
import { mutatePath } from './mutate-address.ts'

test('a path may be changed until nothing of it is left, and further', () => {
  const draft: Draft = {
    operation: operationNamed('GET /v1/models'),
    caller: 'none',
    direct: false,
    method: 'GET',
    segments: [],
    query: [],
    headers: [],
    body: { kind: 'none' },
    transport: { kind: 'whole' },
    changes: [],
  }
  const changes = Array.from({ length: 100 }, (_, n) => mutatePath({ ...draft, segments: [] }, openChance(1, n)))
  expect(new Set(changes).size).toBe(6)
})
