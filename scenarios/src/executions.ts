import { setTimeout as wait } from 'node:timers/promises'
import type { ExecutionRecord } from '@gateway/api/execution'
import type { Stack } from './stack.ts'

export interface ExecutionCall {
  sandbox: string
  secret: string
  input: object
  idempotencyKey: string
}

const AGAIN_MS = 50
const PATIENCE_MS = 15_000

/** Invokes a sandbox product through the gateways in turn, and repeats under its key until one returns a record. */
export async function runUntilOver(
  { gateways }: Pick<Stack, 'gateways'>,
  { sandbox, secret, input, idempotencyKey }: ExecutionCall,
): Promise<ExecutionRecord> {
  for (let n = 0; ; n++) {
    try {
      const answer = await fetch(`${gateways[n % gateways.length]!.url}/v1/sandbox/${sandbox}/invoke`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${secret}`,
          'content-type': 'application/json',
          accept: 'application/json',
          'idempotency-key': idempotencyKey,
        },
        body: JSON.stringify({ input }),
        signal: AbortSignal.timeout(PATIENCE_MS),
      })
      const body = (await answer.json()) as ExecutionRecord & { error: { code: string } | null }
      if (answer.status === 200) return body
      if (answer.status < 500 && answer.status !== 409)
        throw new Refused(`${answer.status} ${JSON.stringify(body.error)}`)
    } catch (error) {
      if (error instanceof Refused) throw error // any other error is a killed service
    }
    await wait(AGAIN_MS)
  }
}

class Refused extends Error {}
