import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import { anyWireCall, type WireModels } from './wire-calls.ts'
import { callModel, type Stack, type TenantFixture } from './stack.ts'

// Callers that call continuously, on any wire, each time under a new idempotency key, regardless of the state of the stack; and the invariants of
// the books afterwards.

export interface KeyedCalls {
  /** Response body of each call by idempotency key, or null if it failed. */
  answers: Map<string, string | null>
  /** Resolves once this many calls have been answered, so that faults happen under load. */
  answered(count: number): Promise<void>
  /** Number of answered calls so far. */
  count(): number
  stop(): Promise<void>
}

export type KeyedTenant = TenantFixture & WireModels

/** A funded tenant with a product of each kind of call. */
export async function keyedTenant(stack: Stack): Promise<KeyedTenant> {
  const tenant = await stack.tenant(100_000_000_000n)
  const embedder = await stack.fixture.publishProduct({
    kind: 'embedding',
    promptPico: 1_000_000n,
    completionPico: 0n,
    supportedParameters: ['dimensions'],
  })
  await stack.fixture.assign(tenant.project.id, embedder)
  return { ...tenant, embedder }
}

export function startKeyedCalls(stack: Stack, tenant: KeyedTenant, callers: number): KeyedCalls {
  const answers = new Map<string, string | null>()
  let answered = 0
  let going = true
  const all = Array.from({ length: callers }, async (_, n) => {
    while (going) {
      const key = randomUUID()
      answers.set(key, null)
      const answer = await tryCall(stack, tenant, key, n)
      if (answer === null) continue
      answers.set(key, answer)
      answered++
    }
  })
  return {
    answers,
    async answered(count) {
      while (answered < count) await new Promise((resolve) => setTimeout(resolve, 10))
    },
    count: () => answered,
    async stop() {
      going = false
      await Promise.all(all)
    },
  }
}

async function tryCall(stack: Stack, tenant: KeyedTenant, key: string, gateway: number): Promise<string | null> {
  try {
    const answer = await callModel(stack, tenant, {
      ...anyWireCall(key, tenant),
      headers: { 'idempotency-key': key },
      gateway,
      signal: AbortSignal.timeout(20_000),
    })
    const text = await answer.text()
    if (answer.status === 200) return text
    // Back off: refusals are immediate, and a tight retry loop isn't part of the test.
    await new Promise((resolve) => setTimeout(resolve, 20))
  } catch {
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  return null
}

/** Asserts that nothing is reserved, the books add up, each charged call can be replayed, and the books have every answered call. */
export async function expectOrder(stack: Stack, tenant: KeyedTenant, { answers }: KeyedCalls): Promise<void> {
  await stack.untilNothingIsReserved(tenant.project.id, 30_000)
  expect(await stack.findings()).toEqual([])
  const calls = await stack.invocations(tenant.project.id)
  const { rows } = await stack.fixture.run('SELECT key, reservation FROM money.idempotency_keys WHERE project = $1', [
    tenant.project.id,
  ])
  const keyOf = new Map(
    (rows as { key: string; reservation: string }[]).map(({ key, reservation }) => [reservation, key]),
  )
  const charged = calls.filter(
    ({ state, chargedMicro, execution }) => state === 'Settled' && chargedMicro > 0n && execution === null,
  )
  expect(charged.length).toBeGreaterThan(0)
  // A charged call is replayed byte for byte, without a second charge.
  const before = await stack.wallet(tenant.project.id)
  for (const { id } of charged.slice(-300)) {
    const key = keyOf.get(id)!
    const replay = await callModel(stack, tenant, { ...anyWireCall(key, tenant), headers: { 'idempotency-key': key } })
    expect([replay.status, replay.headers.get('idempotent-replayed')]).toEqual([200, 'true'])
    const text = await replay.text()
    expect(text).toBe(answers.get(key) ?? text)
  }
  expect((await stack.wallet(tenant.project.id)).settled).toBe(before.settled)
  // The books have every answered call.
  const settledKeys = new Set(charged.map(({ id }) => keyOf.get(id)))
  expect([...answers].filter(([key, answer]) => answer !== null && !settledKeys.has(key))).toEqual([])
}
