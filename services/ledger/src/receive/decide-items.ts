import type { RequestHandler, Response } from 'express'
import { z } from 'zod'
import { itemsEndpoint, ledgerItem, type LedgerItem, type OutcomeLine } from '@gateway/ledger-protocol/ledger-items'
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
  return async (req, res) => {
    const { bodyBytes } = itemsEndpoint
    const body = await readBody(req, bodyBytes)
    const lines = readLines(body.toString())
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

// Internal callers authenticate with a short-lived signed token, and each may call only the operations it needs
// (architecture §S15), as listed in the operations' rows.

/** Returns the service that signed the token, or null. */
export type VerifyToken = (token: string) => Promise<ServiceName | null>

/** Admits requests of services that may call this; 401 without a valid token, 403 for another service. */
export function authorize(
  verify: VerifyToken,
  { path, callers }: Pick<OperationRow, 'path' | 'callers'>,
): RequestHandler {
  return async (req, res, next) => {
    const [scheme, token] = (req.headers.authorization ?? '').split(' ')
    const service = scheme === 'Bearer' && token ? await verify(token) : null
    if (service === null) {
      res
        .status(401)
        .json({ error: 'A service token is needed: sign one with the service secret that the ledger knows.' })
    } else if (!callers.includes(service)) {
      res.status(403).json({ error: `The service ${service} may not call ${path}.` })
    } else {
      res.locals['service'] = service
      next()
    }
  }
}

/** Returns the calling service, once it has passed `authorize`. */
export function callerOf(res: Response): ServiceName {
  return res.locals['service'] as ServiceName
}
