import { connect, type Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { CITY_SCHEMA, FORECAST, type CallOptions, type Spoken, type StockClient } from './stock-client.ts'

// The requests of the OpenAI client for Python, sent as bytes over a socket. They follow the sources of openai 2.24.0 (headers, field
// order, compact JSON) and httpx 0.28 (header order); they aren't captured from a running client. Only the host, the key, the prompt
// and values from earlier responses are filled in. Responses are read as that client reads them.

type Body = Record<string, unknown>
interface Answer {
  status: number
  body: string
}
interface Completion {
  choices: { message: Body & { content: string | null; tool_calls?: ToolCall[] } }[]
  usage: { prompt_tokens: number; completion_tokens: number }
}
interface ToolCall {
  id: string
  function: { arguments: string; name: string }
  type: string
}

export const openAiPython: StockClient = {
  name: 'openai (Python), by its requests',
  at({ baseUrl, key, model }) {
    const { host, hostname, port, pathname } = new URL(baseUrl)
    const user = (content: string) => ({ role: 'user', content })

    /** `client.chat.completions.create` with the client's retries: same headers except the retry count. */
    async function post(
      body: Body,
      { idempotencyKey, retries = 0 }: CallOptions = {},
      helper?: string,
    ): Promise<Answer> {
      for (let retry = 0; ; retry++) {
        try {
          const bytes = requestBytes({
            host,
            path: `${pathname}/chat/completions`,
            key,
            body,
            retry,
            idempotencyKey,
            helper,
          })
          return readable(await exchange(hostname, Number(port), bytes))
        } catch (error) {
          if (retry === retries || !isWorthRepeating(error as Partial<Refused>)) throw error
          await wait(500 * 2 ** retry) // without the client's jitter
        }
      }
    }

    async function create(body: Body, options?: CallOptions, helper?: string): Promise<Completion> {
      return JSON.parse((await post(body, options, helper)).body) as Completion
    }

    return {
      async complete(prompt, options) {
        const { choices, usage } = await create({ messages: [user(prompt)], model }, options)
        return { text: choices[0]!.message.content!, usage: usageOf(usage) }
      },
      async stream(prompt, options) {
        const body = { messages: [user(prompt)], model, stream: true, stream_options: { include_usage: true } }
        return streamed((await post(body, options)).body)
      },
      async useTool(prompt, forecast) {
        const tools = [{ type: 'function', function: FORECAST }]
        const first = await create({ messages: [user(prompt)], model, tool_choice: 'auto', tools })
        const { message } = first.choices[0]!
        const calls = message.tool_calls!
        // A message is sent back as `model_dump(exclude_unset=True)`: the received fields in class order.
        const messages = [
          user(prompt),
          { content: message.content, refusal: message['refusal'], role: 'assistant', tool_calls: calls.map(dumped) },
          ...calls.map(({ id, function: called }) => ({
            role: 'tool',
            tool_call_id: id,
            content: pythonJson(forecast((JSON.parse(called.arguments) as { city: string }).city)),
          })),
        ]
        const second = await create({ messages, model, tool_choice: 'auto', tools })
        const [one, two] = [usageOf(first.usage), usageOf(second.usage)]
        return {
          text: second.choices[0]!.message.content!,
          usage: { prompt: one.prompt + two.prompt, completion: one.completion + two.completion },
        }
      },
      async object(prompt) {
        // `client.chat.completions.parse(response_format=City)` with a pydantic class.
        const properties = {
          city: { title: 'City', type: 'string' },
          population: { title: 'Population', type: 'number' },
          capital: { title: 'Capital', type: 'boolean' },
        }
        const schema = {
          properties,
          required: CITY_SCHEMA.required,
          title: 'City',
          type: 'object',
          additionalProperties: false,
        }
        const response_format = { type: 'json_schema', json_schema: { schema, name: 'City', strict: true } }
        const body = { messages: [user(prompt)], model, response_format, stream: false }
        const parsed = await create(body, {}, 'chat.completions.parse')
        const { message } = parsed.choices[0]!
        const value: unknown = JSON.parse(message.content!)
        // The parsed message is sent back with the field that the client added.
        const back = { content: message.content, refusal: message['refusal'], role: 'assistant', parsed: value }
        const again = await create({ messages: [user(prompt), back, user('And now in words.')], model })
        const [one, two] = [usageOf(parsed.usage), usageOf(again.usage)]
        return {
          text: message.content!,
          value,
          usage: { prompt: one.prompt + two.prompt, completion: one.completion + two.completion },
        }
      },
      async look(prompt, { png, pdf }) {
        const content = [
          { type: 'text', text: prompt },
          { type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } },
          { type: 'file', file: { filename: 'a.pdf', file_data: `data:application/pdf;base64,${pdf}` } },
        ]
        const { choices, usage } = await create({ messages: [{ content, role: 'user' }], model })
        return { text: choices[0]!.message.content!, usage: usageOf(usage) }
      },
      async leaveStream(prompt) {
        const body = { messages: [user(prompt)], model, stream: true }
        const bytes = requestBytes({ host, path: `${pathname}/chat/completions`, key, body, retry: 0 })
        await exchange(hostname, Number(port), bytes, (text) => text.includes('data: {'))
      },
    }
  },
}

interface Recorded {
  host: string
  path: string
  key: string
  body: Body
  retry: number
  idempotencyKey?: string | undefined
  /** Name of a helper method such as `parse`. */
  helper?: string | undefined
}

function requestBytes({ host, path, key, body, retry, idempotencyKey, helper }: Recorded): string {
  const json = JSON.stringify(body) // equals json.dumps(…, ensure_ascii=False, separators=(",", ":"))
  const headers = [
    `Host: ${host}`,
    'Accept: application/json',
    'Accept-Encoding: gzip, deflate',
    'Connection: keep-alive',
    'User-Agent: OpenAI/Python 2.24.0',
    'Content-Type: application/json',
    'X-Stainless-Lang: python',
    'X-Stainless-Package-Version: 2.24.0',
    'X-Stainless-OS: Linux',
    'X-Stainless-Arch: x64',
    'X-Stainless-Runtime: CPython',
    'X-Stainless-Runtime-Version: 3.13.5',
    `Authorization: Bearer ${key}`,
    'X-Stainless-Async: false',
    ...(helper === undefined ? [] : [`X-Stainless-Helper-Method: ${helper}`]),
    ...(idempotencyKey === undefined ? [] : [`Idempotency-Key: ${idempotencyKey}`]),
    `x-stainless-retry-count: ${retry}`,
    'x-stainless-read-timeout: 600',
    `Content-Length: ${Buffer.byteLength(json)}`,
  ]
  return `POST ${path} HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n${json}`
}

/**
 * Sends the bytes and resolves with the complete response. Rejects if the connection ends before the response does. With `enough`, it
 * disconnects once the predicate holds for the text so far.
 */
function exchange(host: string, port: number, bytes: string, enough?: (text: string) => boolean): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ''
    const socket: Socket = connect(port, host, () => socket.write(bytes))
    socket.setEncoding('utf8')
    socket.on('error', reject)
    socket.on('close', () => reject(new Error('the server disconnected without sending a whole response')))
    socket.on('data', (data: string) => {
      text += data
      if (!(enough ?? isWhole)(text)) return
      resolve(text)
      socket.destroy()
    })
  })
}

function isWhole(text: string): boolean {
  const end = text.indexOf('\r\n\r\n')
  if (end < 0) return false
  const length = /\r\ncontent-length: (\d+)/i.exec(text.slice(0, end))?.[1]
  const body = text.slice(end + 4)
  return length === undefined ? body.endsWith('0\r\n\r\n') : Buffer.byteLength(body) >= Number(length)
}

interface Refused extends Error {
  status: number
  code: string
  shouldRetry: string | undefined
}

/** Returns the answer, or throws for a refusal as the client does. */
function readable(text: string): Answer {
  const end = text.indexOf('\r\n\r\n')
  const head = text.slice(0, end)
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1])
  const chunked = /\r\ntransfer-encoding: chunked/i.test(head)
  const body = chunked ? unchunked(Buffer.from(text.slice(end + 4))) : text.slice(end + 4)
  if (status < 300) return { status, body }
  const { error } = JSON.parse(body) as { error: { code: string; message: string } }
  const shouldRetry = /\r\nx-should-retry: (\w+)/i.exec(head)?.[1]
  const refused = new Error(`Error code: ${status} - ${error.message}`)
  throw Object.assign(refused, { status, code: error.code, shouldRetry } satisfies Omit<Refused, keyof Error>)
}

/** `_should_retry`: by the server's header, or else by the status; always for a failed connection. */
function isWorthRepeating({ status, shouldRetry }: Partial<Refused>): boolean {
  if (shouldRetry !== undefined) return shouldRetry === 'true'
  return status === undefined || [408, 409, 429].includes(status) || status >= 500
}

function unchunked(bytes: Buffer): string {
  const parts: Buffer[] = []
  for (let at = 0; ;) {
    const line = bytes.indexOf('\r\n', at)
    const size = Number.parseInt(bytes.toString('latin1', at, line), 16)
    if (!(size > 0)) return Buffer.concat(parts).toString()
    parts.push(bytes.subarray(line + 2, line + 2 + size))
    at = line + 2 + size + 2
  }
}

function streamed(events: string): Spoken & { pieces: number } {
  const said = { text: '', pieces: 0, usage: { prompt: 0, completion: 0 } }
  for (const event of events.split('\n\n')) {
    if (!event.startsWith('data: ') || event === 'data: [DONE]') continue
    const { choices, usage, error } = JSON.parse(event.slice('data: '.length)) as {
      choices: { delta: { content?: string } }[]
      usage?: Completion['usage'] | null
      error?: { message: string }
    }
    if (error) throw new Error(error.message)
    said.text += choices[0]?.delta.content ?? ''
    said.pieces++
    if (usage) said.usage = usageOf(usage)
  }
  return said
}

function dumped({ id, function: called, type }: ToolCall): ToolCall {
  return { id, function: { arguments: called.arguments, name: called.name }, type }
}

/** The default format of `json.dumps`. */
function pythonJson(value: { degrees: number }): string {
  return `{"degrees": ${value.degrees}}`
}

function usageOf({ prompt_tokens, completion_tokens }: Completion['usage']): Spoken['usage'] {
  return { prompt: prompt_tokens, completion: completion_tokens }
}
