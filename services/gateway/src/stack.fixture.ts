import { randomBytes } from 'node:crypto'
import type { KeyOptions, ProductOptions } from '@gateway/testbed/fixture'
import { stackTest as test } from '@gateway/testbed/stack-test'

/** `tenant` is a test's own project with 1 USD, one model and one key. */
export const stackTest = test
  .extend('stack', { scope: 'file' }, ({ services }) => services)
  .extend('tenant', async ({ stack, fixture }) => {
    const owners = await fixture.tenant()
    const project = await fixture.project(owners, 1_000_000n)
    // 1 micro-USD per prompt token, 2 per completion token: charges are easy to add up.
    const sell = async ({ tokenizer, ...options }: ProductOptions & { tokenizer?: string } = {}) => {
      const model = await fixture.product({ promptPico: 1_000_000n, completionPico: 2_000_000n, ...options })
      await fixture.run('UPDATE control.products SET tokenizer = $2 WHERE id = $1', [model, tokenizer])
      await fixture.assign(project.id, model)
      return model
    }
    const model = await sell()
    const key = (options: Partial<KeyOptions> = {}) => fixture.key({ project, by: owners.owner, ...options })
    const { secret, hash } = await key()
    const { url, metricsUrl } = stack.gateways[0]!

    async function wallet() {
      const { rows } = await fixture.run('SELECT reserved, settled FROM money.wallets WHERE project = $1', [project.id])
      return { reserved: Number(rows[0]?.reserved ?? 0), settled: Number(rows[0]?.settled ?? 0) }
    }

    /** Waits until nothing is reserved. Calls whose caller has disconnected still run to their end. */
    async function settled(): Promise<number> {
      for (;;) {
        const { reserved, settled } = await wallet()
        if (reserved === 0) return settled
        await new Promise((resolve) => setImmediate(resolve))
      }
    }

    const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' }
    const chat = (
      fields: object = {},
      more: Omit<RequestInit, 'headers'> & { headers?: Record<string, string> } = {},
    ) =>
      fetch(`${url}/v1/chat/completions`, {
        method: 'POST',
        body: JSON.stringify({ model, messages: [{ role: 'user', content: newPrompt() }], ...fields }),
        ...more,
        headers: { ...headers, ...more.headers },
      })

    return {
      owners,
      project: project.id,
      model,
      secret,
      hash,
      url,
      metricsUrl,
      headers,
      sell,
      key,
      chat,
      wallet,
      settled,
    }
  })

/** Returns a unique prompt, so that faults and recorded calls of the provider can be matched to a test. */
export function newPrompt(): string {
  return `prompt-${randomBytes(6).toString('hex')}`
}

export interface WireChunk {
  id: string
  object: string
  model: string
  choices: { delta: { content?: string }; finish_reason: string | null }[]
  usage?: { prompt_tokens: number; completion_tokens: number; total_tokens: number } | null
  error?: { code: string; message: string }
}

/** Parses the events of a stream. `done` says whether it ended with `[DONE]`. */
export function eventsOf(text: string): { chunks: WireChunk[]; done: boolean } {
  const data = text
    .split('\n\n')
    .filter((event) => event.startsWith('data: '))
    .map((event) => event.slice('data: '.length))
  const done = data.at(-1) === '[DONE]'
  return { chunks: (done ? data.slice(0, -1) : data).map((event) => JSON.parse(event) as WireChunk), done }
}

export async function bodyOf(answer: Response) {
  return (await answer.json()) as {
    id: string
    usage: { prompt_tokens: number; completion_tokens: number; cost_micro: number }
  }
}

export async function errorOf(answer: Response) {
  const { error } = (await answer.json()) as { error: Record<string, unknown> }
  return error
}

/**
 * Returns the gateway's count of open calls, including calls whose caller has disconnected and settlements that outlast
 * their response.
 */
export async function openCalls(metricsUrl: string): Promise<number> {
  const metrics = await (await fetch(`${metricsUrl}/metrics`)).text()
  return Number(/^gateway_calls_open(?:\{[^}]*\})? (\d+)/m.exec(metrics)?.[1])
}
