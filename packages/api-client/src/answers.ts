import type { RefusalBody, RefusalCode } from '@gateway/contracts/refusal'

/** Where nothing is told, the service sends a space every quarter of a minute: who hears none of four has lost the connection. */
const SILENCE_MS = 60_000
/** Characters. No line and no JSON of the service comes near it. */
const LONGEST = 2 ** 26

/**
 * The text of an answer.
 * @param silenceMs for how long nothing may come
 * @throws Unreachable where it falls silent or has no end
 */
export async function textOf(answer: Response, silenceMs = SILENCE_MS): Promise<string> {
  let text = ''
  for await (const part of partsOf(answer, silenceMs)) {
    text += part
    if (text.length > LONGEST) throw new Unreachable('The answer has no end.', { answer })
  }
  return text
}

/** The JSON of an answer; `undefined` for one without a body. */
export async function jsonOf(answer: Response): Promise<unknown> {
  const text = await textOf(answer)
  const type = answer.headers.get('content-type') ?? ''
  if (/^application\/json\b/.test(type)) return parsed(text)
  if (text === '') return undefined
  throw new Unreachable(`The answer is ${type || 'of no type'} in place of JSON.`, { answer })
}

/**
 * The lines of an answer, as they come. Whoever leaves the loop closes the connection.
 * @param silenceMs for how long nothing may come
 * @throws Unreachable where it breaks off, falls silent or is something else; the reason of the signal
 */
export async function* linesOf(
  answer: Response,
  signal: AbortSignal | undefined,
  silenceMs = SILENCE_MS,
): AsyncGenerator<unknown, void, undefined> {
  const type = answer.headers.get('content-type') ?? 'json'
  if (!/json\b/.test(type)) {
    void answer.body?.cancel().catch(() => {})
    throw new Unreachable(`The answer is ${type} in place of lines of JSON.`, { answer })
  }
  let rest = ''
  for await (const part of partsOf(answer, silenceMs, signal)) {
    const lines = part.split('\n')
    lines[0] = rest + lines[0]!
    rest = lines.pop()!
    // Before a line may be spaces, which keep the connection open.
    for (const line of lines) if (line.trim() !== '') yield parsed(line, answer)
    if (rest.length > LONGEST) throw new Unreachable('A line of the answer has no end.', { answer })
  }
  if (rest.trim() !== '') yield parsed(rest)
}

/** What is heard of an answer. */
async function* partsOf(answer: Response, silenceMs: number, signal?: AbortSignal): AsyncGenerator<string> {
  const reader = answer.body?.getReader()
  if (!reader) return
  const decoder = new TextDecoder()
  try {
    for (let done = false; !done;) {
      const part = await heard(reader.read(), silenceMs).catch((cause: unknown) =>
        Promise.reject(failure(cause, signal)),
      )
      done = part.done
      yield decoder.decode(part.value, { stream: !done })
    }
  } finally {
    void reader.cancel().catch(() => {}) // of a silent connection it may never be over
  }
}

async function heard<T>(part: Promise<T>, silenceMs: number): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const silence = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Unreachable('The answer fell silent.')), silenceMs)
  })
  try {
    return await Promise.race([part, silence])
  } finally {
    clearTimeout(timer)
  }
}

/** @param whole the answer, where its text has come whole: another one would be no better */
function parsed(text: string, whole: Response | null = null): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new Unreachable(whole ? 'The answer is no JSON.' : 'The answer broke off.', { cause, answer: whole })
  }
}

/** The service said no, and what clears it. */
export class ApiRefusal extends Error {
  override readonly name = 'ApiRefusal'
  readonly status: number
  readonly code: RefusalCode
  /** What clears it, for a person. */
  readonly resolution: string
  readonly type: RefusalBody['type']
  /** Machine-readable facts; empty where none are told. */
  readonly details: Readonly<Record<string, unknown>>
  /** The field of the request that is at fault, as a path. */
  readonly param: string | null
  /** Names this answer, for support. */
  readonly requestId: string | null
  /** Whether the same request may be answered otherwise later, and when it is worth asking. */
  readonly again: Again

  constructor(
    answer: Pick<Response, 'status' | 'headers'>,
    { message, code, resolution, type, details = {}, param }: RefusalBody,
  ) {
    super(message)
    this.status = answer.status
    this.code = code
    this.resolution = resolution
    this.type = type
    this.details = details
    this.param = param
    this.requestId = answer.headers.get('x-request-id')
    this.again = againOf(answer)
  }
}

/** No answer of the service: it was not reached, it broke off, or something before it answered. `cause` is what was told of it. */
export class Unreachable extends Error {
  override readonly name = 'Unreachable'
  /** null: there was no answer at all, or only a part of one. */
  readonly status: number | null
  readonly again: Again

  constructor(message: string, { answer = null, cause }: { answer?: Response | null; cause?: unknown } = {}) {
    super(message, { cause })
    this.status = answer?.status ?? null
    this.again = answer ? againOf(answer) : { worth: true, afterMs: null }
  }
}

export interface Again {
  worth: boolean
  /** null: the service does not say. */
  afterMs: number | null
}

/** What is thrown for what a request failed with. */
export function failure(cause: unknown, signal: AbortSignal | undefined): unknown {
  if (signal?.aborted) return signal.reason
  if (cause instanceof ApiRefusal || cause instanceof Unreachable) return cause
  return new Unreachable('The service was not reached, or its answer broke off.', { cause })
}

/** The error of an answer with this text that is not 2xx. */
export function failureOf(answer: Response, text: string): ApiRefusal | Unreachable {
  const body = refusalIn(text)
  if (body) return new ApiRefusal(answer, body)
  const address = answer.headers.get('location')
  const what = address === null ? 'is none of the API' : `leads to ${address}, where nothing is sent`
  return new Unreachable(`The answer ${answer.status} ${what}.`, { answer })
}

function refusalIn(text: string): RefusalBody | null {
  try {
    return readRefusal((JSON.parse(text) as { error?: unknown }).error)
  } catch {
    return null
  }
}

/** What refuses, whole whatever an answer leaves out. null: it is no refusal. */
export function readRefusal(error: unknown): RefusalBody | null {
  const { code, message, resolution, param, details, ...rest } = Object(error) as Record<keyof RefusalBody, unknown>
  if (typeof code !== 'string') return null
  const said = (text: unknown, or: string) => (typeof text === 'string' ? text : or)
  return {
    ...rest,
    code,
    message: said(message, 'The service refuses.'),
    resolution: said(resolution, 'The service does not say what clears it.'),
    param: typeof param === 'string' ? param : null,
    details: Object(details) as object,
  } as RefusalBody
}

function againOf({ status, headers }: Pick<Response, 'status' | 'headers'>): Again {
  const said = headers.get('x-should-retry')
  const worth = said === null ? status >= 500 || [408, 409, 429].includes(status) : said === 'true'
  const after = headers.get('retry-after') ?? ''
  const afterMs = /^\d+$/.test(after) ? Number(after) * 1000 : Date.parse(after) - Date.now()
  return { worth, afterMs: afterMs >= 0 ? afterMs : null }
}
