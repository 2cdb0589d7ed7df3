import { randomUUID } from 'node:crypto'
import { describe, expect } from 'vitest'
import { chat } from './src/stack.ts'
import { liveStackTest } from './src/live-stack-test.ts'

const COPIES = 100

const test = liveStackTest.extend('counts', { scope: 'file' }, () => ({ ledgers: 2, gateways: 3 }))

describe('concurrent copies under one idempotency key', () => {
  for (const stream of [false, true]) {
    // spec: 4.2/s16
    test(`${COPIES} copies of a ${stream ? 'streamed call' : 'call'} reach the provider once, charge once and get the same bytes`, async ({
      stack,
    }) => {
      const tenant = await stack.tenant(10_000_000n)
      const key = randomUUID()
      const prompt = `Copies ${key}`
      const once = {
        body: { stream, messages: [{ role: 'user', content: prompt }] },
        headers: { 'idempotency-key': key },
      }
      const answers = await Promise.all(
        Array.from({ length: COPIES }, (_, n) => chat(stack, tenant, { ...once, gateway: n })),
      )
      const bodies = await Promise.all(answers.map((answer) => answer.text()))
      expect(answers.map(({ status }) => status)).toEqual(Array(COPIES).fill(200))
      expect(await stack.provider.control.countCalls({ prompt })).toBe(1)
      const lines = bodies.map((body) =>
        stream
          ? body
              .split('\n')
              .filter((line) => line.startsWith('data:'))
              .join('\n')
          : body,
      )
      expect(new Set(lines).size).toBe(1)
      expect(new Set(answers.map((answer) => answer.headers.get('x-service-invocation'))).size).toBe(1)
      expect(answers.filter((answer) => answer.headers.get('idempotent-replayed') === 'true')).toHaveLength(COPIES - 1)
      const calls = await stack.invocations(tenant.project.id)
      expect(calls.map(({ state }) => state)).toEqual(['Settled'])
      expect((await stack.wallet(tenant.project.id)).settled).toBe(calls[0]!.chargedMicro)
      expect(await stack.openReservations(tenant.project.id)).toBe(0)
    })
  }
})
