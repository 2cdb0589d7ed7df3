import { once } from 'node:events'
import { connect } from 'node:net'
import { describe, expect } from 'vitest'
import { bodyOf, eventsOf, stackTest as test, newPrompt } from '../../stack.fixture.ts'

// Charges for callers that disconnect before, during or after their call.

const costOf = (usage: { prompt_tokens: number; completion_tokens: number }) =>
  usage.prompt_tokens + 2 * usage.completion_tokens

describe('a caller who disconnects', () => {
  test('before the request is complete reserves nothing and is charged nothing', async ({ tenant, stack, fixture }) => {
    const { hostname, port } = new URL(tenant.url)
    const socket = connect(Number(port), hostname)
    await once(socket, 'connect')
    const head = `POST /v1/chat/completions HTTP/1.1\r\nHost: here\r\nAuthorization: ${tenant.headers.authorization}\r\n`
    const begun = `{"model":"${tenant.model}","messages":[{"role":"user","content":"${'x'.repeat(400_000)}`
    await new Promise((sent) => socket.write(`${head}Content-Length: 500000\r\n\r\n${begun}`, sent))
    socket.destroy()
    expect((await tenant.chat()).status).toBe(200) // the gateway has processed the earlier events by now
    const { rows } = await fixture.run('SELECT count(*)::int AS calls FROM money.attempts WHERE project = $1', [
      tenant.project,
    ])
    expect(rows[0].calls).toBe(1)
    expect((await tenant.wallet()).reserved).toBe(0)
    expect(await stack.provider.control.countCalls({ prompt: 'xxxxxxxx' })).toBe(0)
  })

  test('during admission is charged once and gets the response on a repeat', async ({ tenant, stack, fixture }) => {
    const content = newPrompt()
    const ask = (signal?: AbortSignal) =>
      tenant.chat(
        { messages: [{ role: 'user', content }] },
        { headers: { 'idempotency-key': `key-${content}` }, ...(signal && { signal }) },
      )
    const before = costOf((await bodyOf(await tenant.chat())).usage)
    const caller = new AbortController()
    await fixture.run('BEGIN')
    await fixture.run('SELECT FROM money.wallets WHERE project = $1 FOR UPDATE', [tenant.project])
    const left = ask(caller.signal).catch((error: Error) => error.name)
    // The gateway reads requests in order of arrival, across connections.
    await (await fetch(`${tenant.url}/health/live`)).text()
    caller.abort()
    expect(await left).toBe('AbortError')
    await fixture.run('COMMIT')
    const repeat = await ask()
    expect(repeat.status).toBe(200)
    expect(await stack.provider.control.countCalls({ prompt: content })).toBe(1)
    expect(await tenant.settled()).toBe(before + costOf((await bodyOf(repeat)).usage))
  })

  for (const stream of [false, true]) {
    const kind = stream ? 'a stream' : 'an unstreamed response'

    test(`while waiting for ${kind} is charged for its usage and gets it on a repeat`, async ({ tenant, stack }) => {
      const content = newPrompt()
      await stack.provider.control.setFaults([{ prompt: content, hold: true }])
      const headers = { 'idempotency-key': newPrompt() }
      const fields = {
        messages: [{ role: 'user', content }],
        ...(stream && { stream, stream_options: { include_usage: true } }),
      }
      const caller = new AbortController()
      const left = tenant.chat(fields, { headers, signal: caller.signal }).catch((error: Error) => error.name)
      await stack.provider.control.waitForCalls(1, { prompt: content })
      caller.abort()
      expect(await left).toBe('AbortError')
      await stack.provider.control.release()
      const charged = await tenant.settled()
      const again = await tenant.chat(fields, { headers })
      expect(again.headers.get('idempotent-replayed')).toBe('true')
      const events = stream && eventsOf(await again.text())
      if (events) expect(events.done).toBe(true)
      expect(charged).toBe(costOf(events ? events.chunks.at(-1)!.usage! : (await bodyOf(again)).usage))
      expect(await stack.provider.control.countCalls({ prompt: content })).toBe(1)
    })

    test(`while waiting for ${kind} that then fails is charged nothing`, async ({ tenant, stack }) => {
      const content = newPrompt()
      await stack.provider.control.setFaults([{ prompt: content, hold: true, status: 500 }])
      const caller = new AbortController()
      const left = tenant
        .chat({ stream, messages: [{ role: 'user', content }] }, { signal: caller.signal })
        .catch((error: Error) => error.name)
      await stack.provider.control.waitForCalls(1, { prompt: content })
      caller.abort()
      expect(await left).toBe('AbortError')
      expect((await tenant.wallet()).reserved).toBeGreaterThan(0)
      await stack.provider.control.release()
      expect(await tenant.settled()).toBe(0)
    })
  }

  test('while joined to another caller’s running call does not affect that call', async ({ tenant, stack }) => {
    const content = newPrompt()
    await stack.provider.control.setFaults([{ prompt: content, hold: true }])
    const headers = { 'idempotency-key': newPrompt() }
    const ask = (signal?: AbortSignal) =>
      tenant.chat({ messages: [{ role: 'user', content }] }, { headers, ...(signal && { signal }) })
    const first = ask()
    await stack.provider.control.waitForCalls(1, { prompt: content })
    const joiner = new AbortController()
    const joined = ask(joiner.signal).catch((error: Error) => error.name)
    joiner.abort()
    expect(await joined).toBe('AbortError')
    await stack.provider.control.release()
    const { usage } = await bodyOf(await first)
    expect(await tenant.wallet()).toEqual({ reserved: 0, settled: costOf(usage) })
  })
})

test('a tool-call loop is charged exactly for each round', async ({ tenant }) => {
  const tools = [{ type: 'function', function: { name: 'look', parameters: { type: 'object', properties: {} } } }]
  let cost = 0
  for (const stream of [false, true, false]) {
    const messages: object[] = [{ role: 'user', content: newPrompt() }]
    for (const finish of ['tool_calls', 'stop']) {
      const { message, reason, usage } = await said(
        await tenant.chat({ messages, tools, stream, ...(stream && { stream_options: { include_usage: true } }) }),
        stream,
      )
      cost += costOf(usage)
      expect(reason).toBe(finish)
      const { id } = message.tool_calls?.[0] ?? {}
      messages.push(message, { role: 'tool', tool_call_id: id, content: 'seen' })
    }
  }
  expect(await tenant.wallet()).toEqual({ reserved: 0, settled: cost })
})

interface Message {
  role: string
  content: string | null
  tool_calls?: { id: string; type: 'function'; function: { name: string; arguments: string } }[]
}
interface Said {
  message: Message
  reason: string
  usage: { prompt_tokens: number; completion_tokens: number }
}

/** Reads the message of a response, assembled from its chunks if streamed. */
async function said(answer: Response, stream: boolean): Promise<Said> {
  if (!stream) {
    const { choices, usage } = (await answer.json()) as {
      choices: { message: Message; finish_reason: string }[]
      usage: Said['usage']
    }
    return { message: choices[0]!.message, reason: choices[0]!.finish_reason, usage }
  }
  const message: Message = { role: 'assistant', content: null }
  let reason = ''
  const { chunks } = eventsOf(await answer.text())
  for (const { choices } of chunks) {
    const { delta, finish_reason: ended } = choices[0] ?? { delta: {}, finish_reason: null }
    reason = ended ?? reason
    if (delta.content) message.content = (message.content ?? '') + delta.content
    for (const part of (delta as { tool_calls?: NonNullable<Message['tool_calls']> }).tool_calls ?? []) {
      message.tool_calls ??= [part]
      if (message.tool_calls[0] !== part) message.tool_calls[0]!.function.arguments += part.function.arguments
    }
  }
  for (const call of message.tool_calls ?? []) delete (call as { index?: number }).index
  return { message, reason, usage: chunks.at(-1)!.usage! }
}
