import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import type { ExecutionRecord } from '@gateway/api/execution'
import { chat, type Stack, type TenantFixture } from './stack.ts'

/** One call as its caller saw it. */
export interface SeenCall {
  kind: 'chat' | 'flow'
  key: string
  /** `performance.now()` */
  startedMs: number
  endedMs: number
  /** null if the call timed out or its connection broke. */
  status: number | null
  /** Response body. */
  body: string
}

export interface SteadyLoad {
  /** Every ended call, in the order in which they ended. */
  seen: SeenCall[]
  /** Resolves with the first successful call of a kind started at or after `afterMs`. */
  success(kind: SeenCall['kind'], afterMs: number): Promise<SeenCall>
  /** Resolves once every caller has ended. */
  stop(): Promise<void>
}

interface Callers {
  sandbox: string
  chats: number
  flows: number
  /** Timeout of a call. */
  patienceMs: number
}

const AGAIN_MS = 50

/** Starts callers that call continuously, each time under a new idempotency key: chat calls, and executions of a sandbox product. */
export function startSteadyLoad(stack: Stack, tenant: TenantFixture, callers: Callers): SteadyLoad {
  const seen: SeenCall[] = []
  let going = true
  let changed = Promise.withResolvers<void>()

  async function goOn(kind: SeenCall['kind'], call: (key: string) => Promise<Response>): Promise<void> {
    while (going) {
      const key = randomUUID()
      const startedMs = performance.now()
      const answer = await call(key)
        .then(async (response) => ({ status: response.status, body: await response.text() }))
        .catch(() => ({ status: null, body: '' }))
      seen.push({ kind, key, startedMs, endedMs: performance.now(), ...answer })
      changed.resolve()
      changed = Promise.withResolvers()
      if (answer.status !== 200) await wait(AGAIN_MS) // back off: a tight retry loop isn't part of the test
    }
  }

  const chatOnce = (key: string) =>
    chat(stack, tenant, {
      headers: { 'idempotency-key': key },
      body: { messages: [{ role: 'user', content: key }] },
      signal: AbortSignal.timeout(callers.patienceMs),
    })
  const runOnce = (key: string) =>
    fetch(`${stack.gateways[0]!.url}/v1/sandbox/${callers.sandbox}/invoke`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${tenant.key.secret}`,
        'content-type': 'application/json',
        accept: 'application/json',
        'idempotency-key': key,
      },
      body: JSON.stringify({ input: { text: key } }),
      signal: AbortSignal.timeout(callers.patienceMs),
    })
  const all = [
    ...Array.from({ length: callers.chats }, () => goOn('chat', chatOnce)),
    ...Array.from({ length: callers.flows }, () => goOn('flow', runOnce)),
  ]

  return {
    seen,
    async success(kind, afterMs) {
      for (;;) {
        const found = seen.find((call) => call.kind === kind && call.startedMs >= afterMs && succeeded(call))
        if (found) return found
        await changed.promise
      }
    },
    async stop() {
      going = false
      await Promise.all(all)
    },
  }
}

export function succeeded({ kind, status, body }: SeenCall): boolean {
  return status === 200 && (kind === 'chat' || (JSON.parse(body) as ExecutionRecord).status === 'Succeeded')
}
