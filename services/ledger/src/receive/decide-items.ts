import type { RequestHandler, Response } from 'express'
import { z } from 'zod'
import { itemsEndpoint, ledgerItem, type LedgerItem, type OutcomeLine } from '@gateway/ledger-protocol/ledger-items'
import { digestOf, type RequestVerifier } from '@gateway/ledger-client/service-token'
import { readBody } from '@gateway/service-kit/http/read-body'
import type { Deps } from '../deps.ts'
import { withItemSpan } from '../spans.ts'
import type { OperationRow } from '@gateway/ledger-protocol/ledger-operations'
import type { ServiceName } from '@gateway/ledger-protocol/ledger-reads'

const line = z.strictObject({
  n: z.int(),
  budgetMs: z.number().min(1).max(300_000),
  item: ledgerItem,
  trace: z.string().max(128).optional(),
})

/**
 * POST /items: NDJSON in, NDJSON out, each outcome as soon as it is decided, in any order. While none is decided, an
 * empty line per second keeps the connection alive.
 */
export function decideItems({
  admissionBatcher,
  nodeBatcher,
  keyUses,
}: Pick<Deps, 'admissionBatcher' | 'nodeBatcher' | 'keyUses'>): RequestHandler {
  return (_req, res) => {
    const lines = readLines(takeBody(res).toString())
    if (typeof lines === 'string') return void res.status(400).json({ error: lines })
    res.setHeader('Content-Type', 'application/x-ndjson')
    const write = gatheredWriter(res, lines.length)
    for (const line of lines) answerWith(write, line.n, begin(line))
  }

  function begin({ budgetMs, item, trace: traceparent }: z.infer<typeof line>): Promise<OutcomeLine['outcome']> {
    return traceparent ? withItemSpan(item, traceparent, () => decide(item, budgetMs)) : decide(item, budgetMs)
  }

  async function decide(item: LedgerItem, budgetMs: number): Promise<OutcomeLine['outcome']> {
    if (item.op === 'claim' || item.op === 'complete') {
      const outcome = await nodeBatcher.submit(item, budgetMs)
      const claimed = outcome.kind === 'completed' ? outcome.next : outcome
      if (claimed?.kind === 'claimed') admissionBatcher.introduceExecution(item.execution, claimed.project)
      return outcome
    }
    const outcome = await admissionBatcher.submit(item, budgetMs)
    if (item.op === 'admit' && outcome.kind === 'admitted') keyUses.note(outcome.key)
    return outcome as OutcomeLine['outcome']
  }
}

/** A separate function, so that the closure waiting for an outcome does not retain its item, which may be large. */
function answerWith(write: (line: OutcomeLine) => void, n: number, deciding: Promise<OutcomeLine['outcome']>): void {
  void deciding.then((outcome) => write({ n, outcome }))
}

function readLines(text: string): z.infer<typeof line>[] | string {
  const lines: z.infer<typeof line>[] = []
  for (const row of text.split('\n')) {
    if (row === '') continue
    let value: unknown
    try {
      value = JSON.parse(row)
    } catch {
      return `Line ${lines.length + 1} is not JSON.`
    }
    const read = line.safeParse(value)
    if (!read.success) return `Line ${lines.length + 1}: ${z.prettifyError(read.error)}`
    lines.push(read.data)
  }
  return lines.length > 0 ? lines : 'Send at least one line.'
}

/**
 * A batch decides many items together, so their lines are sent in few writes. A saved response may have 1 MB and be
 * replayed many times, so lines are serialized only as fast as the caller reads.
 */
function gatheredWriter(res: Response, expected: number): (line: OutcomeLine) => void {
  const ready: OutcomeLine[] = []
  let left = expected
  let writing = false
  const quiet = setInterval(() => writing || res.write('\n'), itemsEndpoint.quietMs)
  res.once('close', () => clearInterval(quiet))

  async function write(): Promise<void> {
    while (ready.length > 0 && !res.destroyed) {
      let text = ''
      let taken = 0
      while (taken < ready.length && text.length < WRITE_CHARACTERS) text += JSON.stringify(ready[taken++]) + '\n'
      ready.splice(0, taken)
      if (left === 0 && ready.length === 0) {
        clearInterval(quiet)
        return void res.end(text)
      }
      if (!res.write(text)) await drained(res)
      quiet.refresh()
    }
    writing = false
  }

  return (line) => {
    left--
    ready.push(line)
    if (writing) return
    writing = true
    setImmediate(() => void write().catch(() => res.destroy()))
  }
}

/** Resolves when the caller has read or disconnected. A caller that does neither within DRAIN_MS is disconnected. */
function drained(res: Response): Promise<void> {
  return new Promise((resolve) => {
    const late = setTimeout(() => res.destroy(), DRAIN_MS)
    const done = () => {
      clearTimeout(late)
      res.off('drain', done).off('close', done)
      resolve()
    }
    res.on('drain', done).on('close', done)
  })
}

const DRAIN_MS = 30_000

const WRITE_CHARACTERS = 1024 * 1024

// Internal callers authenticate with a token for each request, and each may call only the operations it needs
// (architecture §S15), as listed in the operations' rows.

const USUAL_BODY_BYTES = 1024 * 1024

/**
 * Admits signed requests of services that may call this, and reads their bodies; 401 without a valid token for this
 * request, 403 for another service.
 */
export function authorize(
  verify: RequestVerifier,
  { path, callers, bodyBytes = USUAL_BODY_BYTES }: Pick<OperationRow, 'path' | 'callers' | 'bodyBytes'>,
): RequestHandler {
  return async (req, res, next) => {
    const [scheme, token] = (req.headers.authorization ?? '').split(' ')
    const signed = scheme === 'Bearer' && token ? await verify(token, path) : null
    if (signed === null) return void res.status(401).json({ error: NOT_SIGNED })
    const { service, bodyDigest } = signed
    if (!callers.includes(service))
      return void res.status(403).json({ error: `The service ${service} may not call ${path}.` })
    const body = await readBody(req, bodyBytes)
    if (digestOf(body) !== bodyDigest) return void res.status(401).json({ error: NOT_SIGNED })
    res.locals['service'] = service
    res.locals['body'] = body
    next()
  }
}

const NOT_SIGNED =
  'A service token for this request is needed: sign it with the private key whose public key the ledger knows.'

/** Returns the calling service, once it has passed `authorize`. */
export function callerOf(res: Response): ServiceName {
  return res.locals['service'] as ServiceName
}

/** Returns the body of a request that has passed `authorize`, once: a response that stays open does not keep it. */
export function takeBody(res: Response): Buffer {
  const body = res.locals['body'] as Buffer
  delete res.locals['body']
  return body
}
