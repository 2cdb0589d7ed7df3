import type { Dispatcher, Pool } from 'undici'
import { maxErrorBytes } from './chat-port.ts'
import { type Headers, type ReadError, readErrorAnswer } from './error-facts.ts'
import { type FailureFacts, ProviderFailure } from './provider-failure.ts'
import { retryAfterMs } from './try-routes.ts'
import { ErrorInAnswer, UnfitAnswer } from './untrusted.ts'
import { randomUUID } from 'node:crypto'
import { eachImage } from '@gateway/api/images'
import { type ChatRequest, type Forwarded, IGNORED_IF_UNSUPPORTED } from '@gateway/api/chat-request'
import { privateAddressCode } from '@gateway/service-kit/public-network/public-lookup'

export interface ExchangeRequest {
  /** The provider's name, for failures. */
  provider: string
  path: string
  /** Names and values in turn. */
  headers: string[]
  body: string
  firstByteMs: number
  idleMs: number
  totalMs: number
  maxBytes: number
  readError?: ReadError | undefined
  signal: AbortSignal | undefined
}

/** What becomes of the answer. Each method may throw `UnfitAnswer`, `ErrorInAnswer` or `ProviderFailure`, which ends the exchange. */
export interface Receiver {
  /** A 2xx answer has begun. */
  begin(headers: Headers): void
  take(bytes: Buffer): void
  /** The body has ended as HTTP says it should. */
  end(): void
  /** Called once at most, and nothing else after it: a `ProviderFailure`, or the signal's reason. */
  fail(reason: unknown): void
}

export interface Exchange {
  /**
   * The first byte that counts has come: from here on the idle limit and the total limit hold.
   * `forwarded`: a part of the answer is the reader's now, so a later failure comes after the first byte.
   */
  firstByte(forwarded: boolean): void
  pause(): void
  resume(): void
  /** Ends it without calling the receiver. The connection is closed, which makes room in the pool. */
  leave(): void
}

/**
 * One POST to a provider, on undici's lowest level (no stream objects in between).
 *   E1  The receiver is called for one end only: `end` or `fail`.
 *   E2  After either, no timer and no listener of this exchange is left.
 *   E3  Ending it early closes the connection, so a stalled provider cannot fill the pool.
 *   E4  The limits are exact; undici's own, which are coarse, are behind them.
 *   E5  Redirects are answers like any other status that isn't 2xx: a failure.
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

  const failure = (facts: Pick<FailureFacts, 'kind' | 'detail' | 'providerStatus'>): ProviderFailure =>
    new ProviderFailure({ provider, afterFirstByte, ...facts })
  const tooLate = (detail: string) => (): void => broken({ kind: 'timeout', detail })
  const totalTimer = setTimeout(tooLate('not complete in time'), request.totalMs)
  let pauseTimer = setTimeout(tooLate('no first byte in time'), request.firstByteMs)
  const aborted = (): void => fail(signal?.reason)
  signal?.addEventListener('abort', aborted)

  function close(reason: Error): boolean {
    if (closed) return false
    closed = true
    clearTimeout(totalTimer)
    clearTimeout(pauseTimer)
    signal?.removeEventListener('abort', aborted)
    controller?.abort(reason)
    return true
  }

  function fail(reason: unknown): void {
    if (close(ended)) receiver.fail(reason)
  }

  /** The connection failed or time ran out; an error status that had come before says more. */
  function broken(facts: Pick<FailureFacts, 'kind' | 'detail'>): void {
    if (errorStatus !== 0) failWithStatus('')
    else fail(failure(facts))
  }

  /** A pause that our own slow reader made isn't the provider's. */
  function idledOut(): void {
    if (controller?.paused) pauseTimer.refresh()
    else broken({ kind: 'timeout', detail: 'the answer paused for too long' })
  }

  /** Runs a step of the receiver; what it throws ends the exchange. */
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
      if (idling) pauseTimer.refresh()
      if (errorStatus !== 0) takeError(chunk)
      else if (bytes > request.maxBytes) fail(failure({ kind: 'too_large', detail: `over ${request.maxBytes} bytes` }))
      else guarded(() => receiver.take(chunk))
    },
    onResponseEnd() {
      if (closed) return
      if (errorStatus !== 0) return failWithStatus(Buffer.concat(parts).toString())
      guarded(() => {
        receiver.end()
        // The request is complete for undici, so this frees our side only and keeps the connection.
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
      clearTimeout(pauseTimer)
      pauseTimer = setTimeout(idledOut, request.idleMs)
    },
    pause: () => controller?.pause(),
    resume: () => controller?.resume(),
    leave: () => void close(ended),
  }
}

/** The reason undici gets when we end an exchange; no one else sees it. */
const ended = new Error('the exchange has ended')

/** We ask for no encoding; an encoded body would be taken for garbage later, and could be a bomb if it were decoded. */
function plain(headers: Headers): void {
  const encoding = headers['content-encoding']
  if (encoding !== undefined && encoding !== 'identity') throw new UnfitAnswer('the body is encoded')
}

const NO_URLS: ReadonlyMap<string, string> = new Map()

/**
 * The text that goes to the provider: what the caller sent, measured and written once. It is written again only to leave out
 * temperature, top_p or seed where the model does not take them (rules §3.3), and to put the data of images in.
 * @param assetUrls what the request names of the project's assets as `data:` URLs, by reference
 */
export function forwardedFor(
  { forwarded, forwardedJson, images }: ChatRequest,
  supportedParameters: string[],
  assetUrls: ReadonlyMap<string, string> = NO_URLS,
): string {
  const unwanted = IGNORED_IF_UNSUPPORTED.filter(
    (field) => forwarded[field] !== undefined && !supportedParameters.includes(field),
  )
  if (unwanted.length === 0 && images.length === 0) return forwardedJson
  const wanted = { ...forwarded, ...Object.fromEntries(unwanted.map((field) => [field, undefined])) }
  if (images.length === 0) return JSON.stringify(wanted)
  const urls = new Map(assetUrls)
  for (const image of images) if (image.kind === 'data') urls.set(image.reference, image.url)
  return jsonWithImages(wanted, urls)
}

/**
 * The data is put into the text unchanged: to write megabytes as JSON takes long, and changes nothing in them.
 * @param urls by reference; what is not among them stays as it is
 */
function jsonWithImages(forwarded: Forwarded, urls: ReadonlyMap<string, string>): string {
  const word = randomUUID() // that nothing in the request says
  const put: string[] = []
  const messages = eachImage(forwarded.messages, (reference) => {
    const url = urls.get(reference)
    if (url === undefined) return reference
    put.push(url)
    return word
  })
  const [first = '', ...others] = JSON.stringify({ ...forwarded, messages }).split(word)
  return others.reduce((text, part, n) => text + put[n] + part, first)
}

/** What an error of undici or the socket says about the call. `started`: the request had been written. */
export function transportFailure(
  error: Error & { code?: unknown },
  started: boolean,
): Pick<FailureFacts, 'kind' | 'detail'> {
  // The code only: messages may quote addresses and bytes of the answer.
  const detail = typeof error.code === 'string' ? error.code : error.name
  switch (detail) {
    case 'UND_ERR_HEADERS_TIMEOUT':
      return { kind: 'timeout', detail: 'no first byte in time' }
    case 'UND_ERR_BODY_TIMEOUT':
      return { kind: 'timeout', detail: 'the answer paused for too long' }
    case 'UND_ERR_HEADERS_OVERFLOW':
      return { kind: 'too_large', detail: 'the headers are too large' }
    case privateAddressCode:
      return { kind: 'unreachable', detail: 'the name leads to a private address' }
    default:
      if (detail.startsWith('HPE_')) return { kind: 'garbage', detail }
      return { kind: started ? 'cut' : 'unreachable', detail }
  }
}
