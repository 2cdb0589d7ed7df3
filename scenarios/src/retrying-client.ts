import { setTimeout as wait } from 'node:timers/promises'
import type { Stack } from './stack.ts'

// A client as there are many: it keeps to one replica of the gateway, and where that takes nothing it goes to the other one. It
// repeats only what no gateway had taken: a connection that was refused, or ended before the first byte of an answer; and what was
// answered with 503 and Retry-After. Whether a gateway had taken it after all shows in the books: then it was charged twice.

/** Why a request was sent again. */
export type Repeated = 'refused connection' | 'connection ended before an answer' | '503 with Retry-After'

export interface RetryingClient {
  /** The text of an answer that is not 503, and its status. */
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
        // Reading fails where an answer is cut short: what was accepted is lost then, and nothing here hides it.
        const text = await answer.text()
        const retryAfter = answer.headers.get('retry-after')
        if (answer.status !== 503 || retryAfter === null) return { status: answer.status, text }
        await again('503 with Retry-After', Number(retryAfter) * 1_000)
      }
    },
  }
}
