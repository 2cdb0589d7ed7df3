import { hash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { WireRequest } from './answer-wire.ts'

/** `cut`: ended by a fault of this provider. `aborted`: the caller disconnected first. */
export type CallOutcome = 'open' | 'finished' | 'cut' | 'aborted'

export interface LoggedCall {
  id: string
  model: string
  path: string
  stream: boolean
  /** The relevant headers; those with a key are hashed. */
  headers: Record<string, string>
  bodyDigest: string
  /** The body as received; null except for the latest calls, and for very large bodies. */
  body: string | null
  /** SHA-256 of the bytes of each image sent as data, hex. */
  images: string[]
  /** Likewise of its files. */
  files: string[]
  /** All texts of the call; for a long one its beginning and its end. */
  prompt: string
  /** Unix milliseconds. */
  atMs: number
  outcome: CallOutcome
  /** Chunks of a stream sent so far. */
  chunksSent: number
}

export interface CallFilter {
  model?: string | undefined
  /** A substring of the logged prompt. */
  prompt?: string | undefined
  outcome?: CallOutcome | undefined
}

export interface CallLog {
  /** Adds a call that has arrived, with the outcome `open`. */
  add(call: Omit<LoggedCall, 'id' | 'outcome' | 'chunksSent'>): LoggedCall
  end(call: LoggedCall, outcome: CallOutcome): void
  list(filter?: CallFilter): LoggedCall[]
  /** Without a filter: all calls since the last `clear`, including those no longer stored. */
  count(filter?: CallFilter): number
  clear(): void
  /** Resolves once at least `count` calls match; rejects if the signal aborts first. */
  whenCount(count: number, filter: CallFilter, signal: AbortSignal): Promise<void>
}

// Memory bounds: about 40 MB of excerpts and 32 MB of bodies when full.
const callsKept = 20_000
const bodiesKept = 200

/** The calls a provider received, oldest first. */
export function openCallLog(): CallLog {
  let calls: LoggedCall[] = []
  let total = 0
  let serial = 0
  let waiters: { count: number; filter: CallFilter; resolve: () => void }[] = []

  const list = (filter: CallFilter = {}): LoggedCall[] =>
    isEmpty(filter) ? calls.slice() : calls.filter((call) => fits(call, filter))
  const count = (filter: CallFilter = {}): number =>
    isEmpty(filter) ? total : calls.reduce((sum, call) => sum + (fits(call, filter) ? 1 : 0), 0)
  const wake = (): void => {
    if (waiters.length === 0) return
    waiters = waiters.filter((waiter) => {
      if (count(waiter.filter) < waiter.count) return true
      waiter.resolve()
      return false
    })
  }

  return {
    add(arrived) {
      total++
      serial++
      const call: LoggedCall = {
        id: `${arrived.bodyDigest.slice(0, 12)}${serial.toString(36)}`,
        ...arrived,
        outcome: 'open',
        chunksSent: 0,
      }
      calls.push(call)
      const older = calls.at(-1 - bodiesKept)
      if (older) older.body = null
      // Dropping a quarter at a time keeps the cost per call constant.
      if (calls.length > callsKept * 1.25) calls = calls.slice(-callsKept)
      wake()
      return call
    },
    end(call, outcome) {
      if (call.outcome !== 'open') return
      call.outcome = outcome
      wake()
    },
    list,
    count,
    clear() {
      calls = []
      total = 0
    },
    whenCount: (wanted, filter, signal) =>
      new Promise((resolve, reject) => {
        const waiter = { count: wanted, filter, resolve }
        waiters.push(waiter)
        wake()
        signal.addEventListener('abort', () => {
          waiters = waiters.filter((other) => other !== waiter)
          reject(new Error('not this many calls in time', { cause: signal.reason }))
        })
      }),
  }
}

function isEmpty({ model, prompt, outcome }: CallFilter): boolean {
  return model === undefined && prompt === undefined && outcome === undefined
}

function fits(call: LoggedCall, filter: CallFilter): boolean {
  return (
    (filter.model === undefined || call.model === filter.model) &&
    (filter.outcome === undefined || call.outcome === filter.outcome) &&
    (filter.prompt === undefined || call.prompt.includes(filter.prompt))
  )
}

const promptCharactersKept = 1_000
const bodyBytesKept = 160 * 1024
const secretHeaders = ['authorization', 'x-api-key', 'api-key', 'x-goog-api-key']
const headersKept = [
  'accept',
  'content-type',
  'user-agent',
  'traceparent',
  'tracestate',
  'idempotency-key',
  'anthropic-version',
]

/** Logs a call that has arrived. */
export function logCall(
  log: CallLog,
  path: string,
  req: IncomingMessage,
  body: Buffer,
  { model, prompt, stream }: WireRequest,
): LoggedCall {
  return log.add({
    model,
    path,
    stream,
    headers: headersThatMatter(req),
    bodyDigest: hash('sha256', body),
    body: body.length <= bodyBytesKept ? body.toString() : null,
    images: dataIn(body, BEFORE_IMAGE_DATA),
    files: dataIn(body, BEFORE_FILE_DATA),
    prompt: excerpt(prompt),
    atMs: Date.now(),
  })
}

/** What precedes image data, as in chat completions or as in the Messages format. */
const BEFORE_IMAGE_DATA = /data:image\/[a-z]+;base64,|"type":"base64","media_type":"image\/[a-z]+","data":"/g
/** The same for files, and as in the Gemini format. */
const BEFORE_FILE_DATA =
  /data:application\/pdf;base64,|"type":"base64","media_type":"application\/pdf","data":"|"mimeType":"application\/pdf","data":"/g

/**
 * The data ends with its string. A pattern for the data as well would exceed the stack of V8's pattern matcher with
 * megabytes of it, depending on what ran before.
 */
function dataIn(body: Buffer, before: RegExp): string[] {
  if (!body.includes('base64')) return []
  const text = body.toString('latin1')
  return Array.from(text.matchAll(before), ({ 0: head, index }) => {
    const from = index + head.length
    return hash('sha256', Buffer.from(text.slice(from, text.indexOf('"', from)), 'base64'))
  })
}

function headersThatMatter({ headers }: IncomingMessage): Record<string, string> {
  const kept: Record<string, string> = {}
  for (const name in headers) {
    const value = String(headers[name])
    if (secretHeaders.includes(name)) kept[name] = `sha256:${hash('sha256', value).slice(0, 16)}`
    else if (name.startsWith('x-') || headersKept.includes(name)) kept[name] = value
  }
  return kept
}

function excerpt(prompt: string): string {
  if (prompt.length <= promptCharactersKept) return prompt
  const half = promptCharactersKept / 2
  // Copied through a buffer, so that the excerpt doesn't keep the whole prompt in memory.
  return Buffer.from(`${prompt.slice(0, half)} … ${prompt.slice(-half)}`).toString()
}
