import type { Dispatcher, Pool } from 'undici'
import { maxErrorBytes } from './chat-port.ts'
import { type Headers, type ReadError, readErrorAnswer } from './error-facts.ts'
import { type FailureFacts, ProviderFailure, ReaderStalled } from './provider-failure.ts'
import { retryAfterMs } from './try-routes.ts'
import { ErrorInAnswer, UnfitAnswer } from './untrusted.ts'
import { randomUUID } from 'node:crypto'
import { eachAttachment } from '@gateway/api/attachments'
import { type ChatRequest, type Forwarded } from '@gateway/api/chat-request'
import { privateAddressCode } from '@gateway/service-kit/public-network/public-lookup'

export interface ExchangeRequest {
  /** The provider's name, for failures. */
  provider: string
  path: string
  /** Alternating names and values. */
  headers: string[]
  body: string
  firstByteMs: number
  idleMs: number
  totalMs: number
  /** How long our reader may pause the response. */
  unreadMs: number
  maxBytes: number
  /** The limit to report if the response exceeds it because of what was requested. Default: the provider is at fault. */
  limitBytes?: number
  readError?: ReadError | undefined
  signal: AbortSignal | undefined
  /** Called once, when the exchange no longer needs its connection. */
  giveBack: () => void
}

/** Receives the response. Throwing `UnfitAnswer`, `ErrorInAnswer` or `ProviderFailure` ends the exchange. */
export interface Receiver {
  /** A 2xx response has started. */
  begin(headers: Headers): void
  take(bytes: Buffer): void
  /** The body has ended cleanly. */
  end(): void
  /** Called at most once, as the last call: with a `ProviderFailure`, or the signal's reason. */
  fail(reason: unknown): void
}

export interface Exchange {
  /**
   * The first byte that counts has arrived. From here on the idle and total timeouts apply.
   * `forwarded`: the reader has a part of the response, so a later failure is after the first byte.
   */
  firstByte(forwarded: boolean): void
  /** Stops reading for a reader that lags; for at most `unreadMs`. */
  pause(): void
  resume(): void
  /** Ends the exchange without calling the receiver. Closes the connection, which frees its place in the pool. */
  leave(): void
}

/**
 * Sends one POST to a provider, on undici's dispatch level (no stream objects in between).
 *   E1  The receiver gets exactly one of `end` and `fail`.
 *   E2  After either, no timer or listener of this exchange is left, and its connection is given back.
 *   E3  Ending it early closes the connection, so a stalled provider can't fill the pool.
 *   E4  The timeouts are exact; undici's coarse ones are a fallback.
 *   E5  While our reader pauses the response, only its time counts, not the provider's: E4 resumes with the reading.
 *   E6  A redirect is a failure, like any other status that isn't 2xx.
 */
export function startExchange(pool: Pool, request: ExchangeRequest, receiver: Receiver): Exchange {
  const { provider, signal } = request
  let controller: Dispatcher.DispatchController | null = null
  let closed = false
  let started = false
  let idling = false
  let afterFirstByte = false
  let errorStatus = 0
  let errorHeaders: Headers = {}
  const parts: Buffer[] = []
  let bytes = 0

  const failure = (facts: Pick<FailureFacts, 'kind' | 'detail' | 'providerStatus' | 'limitBytes'>): ProviderFailure =>
    new ProviderFailure({ provider, afterFirstByte, ...facts })
  const tooLate = (detail: string) => (): void => broken({ kind: 'timeout', detail })
  const totalTimer = setTimeout(tooLate('not complete in time'), request.totalMs)
  let timer = setTimeout(tooLate('no first byte in time'), request.firstByteMs)
  const idledOut = tooLate('the answer paused for too long')
  const aborted = (): void => fail(signal?.reason)
  signal?.addEventListener('abort', aborted)

  function close(reason: Error): boolean {
    if (closed) return false
    closed = true
    clearTimeout(totalTimer)
    clearTimeout(timer)
    signal?.removeEventListener('abort', aborted)
    controller?.abort(reason)
    request.giveBack()
    return true
  }

  function tooLarge(): ProviderFailure {
    const { maxBytes, limitBytes } = request
    return failure({ kind: 'too_large', detail: `over ${maxBytes} bytes`, limitBytes })
  }

  function fail(reason: unknown): void {
    if (close(ended)) receiver.fail(reason)
  }

  /** The connection failed or timed out. An error status received before says more. */
  function broken(facts: Pick<FailureFacts, 'kind' | 'detail'>): void {
    if (errorStatus !== 0) failWithStatus('')
    else fail(failure(facts))
  }

  function waitForNext(ms: number, late: () => void): void {
    clearTimeout(timer)
    timer = setTimeout(late, ms)
  }

  /** Runs a step of the receiver. An error it throws ends the exchange. */
  function guarded(step: () => void): void {
    try {
      step()
    } catch (error) {
      fail(failureOf(error))
    }
  }

  function failureOf(error: unknown): unknown {
    if (error instanceof UnfitAnswer) return failure({ kind: 'garbage', detail: error.message })
    if (!(error instanceof ErrorInAnswer)) return error
    return failure({ kind: 'refused', detail: error.message, providerStatus: error.providerStatus })
  }

  function takeError(chunk: Buffer): void {
    if (bytes <= maxErrorBytes) parts.push(chunk)
    else failWithStatus('')
  }

  function failWithStatus(body: string): void {
    const { readError = readErrorAnswer } = request
    const { status, code } = readError(errorStatus, errorHeaders, body)
    fail(
      new ProviderFailure({
        provider,
        kind: 'refused',
        detail: `status ${errorStatus}`,
        providerStatus: status,
        providerCode: code,
        retryAfterMs: retryAfterMs(errorHeaders, Date.now()),
      }),
    )
  }

  const handler: Dispatcher.DispatchHandler = {
    onRequestStart(control) {
      controller = control
      if (closed) control.abort(ended)
      else started = true
    },
    onResponseStart(_control, status, headers) {
      if (closed || status < 200) return
      if (status < 300) {
        guarded(() => {
          plain(headers)
          receiver.begin(headers)
        })
      } else {
        errorStatus = status
        errorHeaders = headers
      }
    },
    onResponseData(_control, chunk) {
      if (closed) return
      bytes += chunk.length
      if (idling) timer.refresh()
      if (errorStatus !== 0) takeError(chunk)
      else if (bytes > request.maxBytes) fail(tooLarge())
      else guarded(() => receiver.take(chunk))
    },
    onResponseEnd() {
      if (closed) return
      if (errorStatus !== 0) return failWithStatus(Buffer.concat(parts).toString())
      guarded(() => {
        receiver.end()
        // For undici the request is complete, so this cleans up our side only and keeps the connection.
        close(ended)
      })
    },
    onResponseError(_control, error) {
      if (!closed) broken(transportFailure(error, started))
    },
  }

  if (signal?.aborted) queueMicrotask(aborted)
  else pool.dispatch({ path: request.path, method: 'POST', headers: request.headers, body: request.body }, handler)

  return {
    firstByte(forwarded) {
      if (closed) return
      afterFirstByte = forwarded
      if (idling) return
      idling = true
      waitForNext(request.idleMs, idledOut)
    },
    pause() {
      if (closed) return
      controller?.pause()
      waitForNext(request.unreadMs, () => fail(new ReaderStalled(provider))) // E5
    },
    resume() {
      if (closed) return
      controller?.resume()
      waitForNext(request.idleMs, idledOut)
    },
    leave: () => void close(ended),
  }
}

/** Abort reason passed to undici when we end an exchange. Never visible elsewhere. */
const ended = new Error('the exchange has ended')

/** Rejects an encoded body, which we don't request: it would be unreadable, or a decompression bomb if decoded. */
function plain(headers: Headers): void {
  const encoding = headers['content-encoding']
  if (encoding !== undefined && encoding !== 'identity') throw new UnfitAnswer('the body is encoded')
}

const NO_URLS: ReadonlyMap<string, string> = new Map()

/**
 * Returns the text to send to the provider: the caller's request, serialized once and measured in that form. It is
 * serialized again only to omit temperature, top_p or seed if the model doesn't support them (rules §3.3), and to
 * insert the data of attachments.
 * @param assetUrls `data:` URLs of the assets that the request names, by reference
 */
export function forwardedFor(
  { forwarded, forwardedJson, attachments, optional }: ChatRequest,
  supportedParameters: string[],
  assetUrls: ReadonlyMap<string, string> = NO_URLS,
): string {
  const unwanted = optional.filter((field) => forwarded[field] !== undefined && !supportedParameters.includes(field))
  if (unwanted.length === 0 && attachments.length === 0) return forwardedJson
  const wanted = { ...forwarded, ...Object.fromEntries(unwanted.map((field) => [field, undefined])) }
  if (attachments.length === 0) return JSON.stringify(wanted)
  const urls = new Map(assetUrls)
  for (const each of attachments) if (each.kind === 'data') urls.set(each.reference, each.url)
  return jsonWithData(wanted, urls)
}

/**
 * Inserts the data of attachments into the serialized text: serializing megabytes as JSON is slow and changes nothing in them.
 * @param urls by reference; other references stay unchanged
 */
function jsonWithData(forwarded: Forwarded, urls: ReadonlyMap<string, string>): string {
  const word = randomUUID() // occurs nowhere in the request
  const put: string[] = []
  const messages = eachAttachment(forwarded.messages, (reference) => {
    const url = urls.get(reference)
    if (url === undefined) return reference
    put.push(url)
    return word
  })
  const [first = '', ...others] = JSON.stringify({ ...forwarded, messages }).split(word)
  return others.reduce((text, part, n) => text + put[n] + part, first)
}

/** Classifies an error of undici or the socket. `started`: the request had been written. */
export function transportFailure(
  error: Error & { code?: unknown },
  started: boolean,
): Pick<FailureFacts, 'kind' | 'detail'> {
  // The code only: messages may quote addresses and bytes of the response.
  const detail = typeof error.code === 'string' ? error.code : error.name
  switch (detail) {
    case 'UND_ERR_HEADERS_TIMEOUT':
      return { kind: 'timeout', detail: 'no first byte in time' }
    case 'UND_ERR_BODY_TIMEOUT':
      return { kind: 'timeout', detail: 'the answer paused for too long' }
    case 'UND_ERR_HEADERS_OVERFLOW':
      return { kind: 'garbage', detail: 'the headers are too large' }
    case privateAddressCode:
      return { kind: 'unreachable', detail: 'the name leads to a private address' }
    default:
      if (detail.startsWith('HPE_')) return { kind: 'garbage', detail }
      return { kind: started ? 'cut' : 'unreachable', detail }
  }
}
