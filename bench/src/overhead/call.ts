import { Agent, request } from 'undici'
import type { Path } from '../chat-path/paths.ts'

export interface CallShape {
  stream: boolean
  /** Of the prompt. */
  bytes: number
  maxTokens: number
}

/** Times since the call was due, in milliseconds. */
export interface Called {
  firstByteMs: number
  totalMs: number
  /** Events of a stream. */
  chunks: number
}

const SENTENCE = 'Why is the sky blue at noon, and red in the evening? '

export function bodyOf({ model }: Path, { stream, bytes, maxTokens }: CallShape): string {
  const content = SENTENCE.repeat(Math.ceil(bytes / SENTENCE.length)).slice(0, bytes)
  const more = stream ? { stream, stream_options: { include_usage: true } } : {}
  return JSON.stringify({ model, max_tokens: maxTokens, ...more, messages: [{ role: 'user', content }] })
}

export function openCaller(connections: number) {
  const dispatcher = new Agent({ connections, pipelining: 1 })

  /**
   * @param dueMs when it should have been sent: what it waited in this process counts
   * @throws Error for a response other than 200
   */
  async function call({ url, headers }: Path, body: string, dueMs: number): Promise<Called> {
    const answer = await request(`${url}/v1/chat/completions`, {
      method: 'POST',
      dispatcher,
      headers: { 'content-type': 'application/json', ...headers },
      body,
    })
    if (answer.statusCode !== 200) throw new Error(`${url} answers ${answer.statusCode}: ${await answer.body.text()}`)
    let firstByteMs = 0
    let chunks = 0
    for await (const part of answer.body as AsyncIterable<Buffer>) {
      firstByteMs ||= performance.now() - dueMs
      for (let at = part.indexOf('data: '); at >= 0; at = part.indexOf('data: ', at + 6)) chunks++
    }
    return { firstByteMs, totalMs: performance.now() - dueMs, chunks }
  }
  return { call, close: () => dispatcher.destroy() }
}
