import { ServerResponse } from 'node:http'
import type { ExecutionRecord } from '@gateway/api/execution'
import { refuse } from '@gateway/api/refusal'
import { ProviderFailure } from '@gateway/providers/provider-failure'
import { expect, test } from 'vitest'
import { explainError, refusalOfExecution } from './explain-error.ts'

const ended = { id: 'exe_1', error: refuse('unavailable', {}).body, chargedMicro: 0, startedAt: null }

test.each([
  ['a part of the service that is unavailable', refuse('unavailable', {}), undefined],
  ['open circuit breakers', new ProviderFailure({ kind: 'circuit_open', provider: 'p', detail: 'd' }), 'circuit'],
  ['a node of an execution', refusalOfExecution(ended as unknown as ExecutionRecord, false), 'execution'],
])('counts a refusal because of %s with its cause', (_what, error, cause) => {
  const counted: unknown[] = []
  const metrics = { refused: (...counts: unknown[]) => counted.push(counts) }
  const deps = { metrics, refusals: { note: () => {} } } as unknown as Parameters<typeof explainError>[0]
  explainError(deps, error, new ServerResponse({ method: 'POST' } as never))
  expect(counted).toEqual([['unavailable', cause]])
})
