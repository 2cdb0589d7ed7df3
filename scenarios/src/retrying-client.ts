import { setTimeout as wait } from 'node:timers/promises'
import type { Stack } from './stack.ts'

// A typical client: it stays on one gateway replica and switches if that one doesn't accept the request. It retries only requests that
// no gateway accepted: a refused connection, a connection ended before the first response byte, or a 503 with Retry-After. If a gateway
// had accepted one after all, the books show two charges.

/** Reason for a retry. */
export type Repeated = 'refused connection' | 'connection ended before an answer' | '503 with Retry-After'

export interface RetryingClient {
  /** Status and text of the first response other than a 503. */
  ask(path: string, body: object, headers?: Record<string, string>): Promise<{ status: number; text: string }>
  readonly repeated: readonly Repeated[]
}

const PAUSE_MS = 20

export function retryingClient({ gateways }: Pick<Stack, 'gateways'>, secret: string, first: number): RetryingClient {
  const repeated: Repeated[] = []
  let gateway = first

  async function again(why: Repeated, pauseMs: number): Promise<void> {
    repeated.push(why)
    gateway++
    await wait(pauseMs)
  }

  return {
    repeated,
    async ask(path, body, headers = {}) {
      for (;;) {
        const request = {
          method: 'POST',
          headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json', ...headers },
          body: JSON.stringify(body),
        }
        let answer: Response
        try {
          answer = await fetch(gateways[gateway % gateways.length]!.url + path, request)
        } catch (error) {
          const { code } = (error as { cause?: { code?: string } }).cause ?? {}
          await again(code === 'ECONNREFUSED' ? 'refused connection' : 'connection ended before an answer', PAUSE_MS)
          continue
        }
        // A truncated response rejects here: an accepted call is lost, which must not be hidden.
        const text = await answer.text()
        const retryAfter = answer.headers.get('retry-after')
        if (answer.status !== 503 || retryAfter === null) return { status: answer.status, text }
        await again('503 with Retry-After', Number(retryAfter) * 1_000)
      }
    },
  }
}
