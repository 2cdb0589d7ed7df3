import { setTimeout as wait } from 'node:timers/promises'
import { backOffMs } from '@gateway/service-kit/async/waiting'
import { refusalFor } from '@gateway/ledger-protocol/ledger-refusal'
import { LedgerUnavailable } from '@gateway/ledger-client/call-operation'
import type { ConsoleDeps } from '../deps.ts'
import type { Request, Response } from 'express'
import { Refusal } from '@gateway/api/refusal'
import { disconnectSignal } from '@gateway/service-kit/http/read-body'

/** A short execution learns of at once; a long one is asked about once a second. */
const PAUSE = { firstMs: 25, maxMs: 1_000 }

export interface Followed {
  project: string
  execution: string
  /** The last line that its reader has; -1: none. */
  after: number
}

/**
 * The lines of progress of an execution as they come, as NDJSON text, to `complete`; the first look is answered also where it
 * finds no line yet. The ledger is asked again and again: an execution continues without listeners, so a ledger that can't be
 * reached for a while only makes its lines late.
 *
 * Each look is authorised again, behind the reading: what is handed on was there while its reader might still read it.
 * @param authorize throws a Refusal once they may not anymore
 * @param disconnected aborts when no one listens anymore; the promise then rejects
 * @throws Refusal `execution_not_found`
 */
export async function* followExecution(
  { ledger }: Pick<ConsoleDeps, 'ledger'>,
  { project, execution, after: from }: Followed,
  authorize: () => Promise<void>,
  disconnected: AbortSignal,
): AsyncGenerator<string> {
  let after = from
  let found = false
  for (let quiet = 1; ; quiet++) {
    disconnected.throwIfAborted()
    const news = await ledger.followExecution({ execution, after, project }).catch((error: unknown) => {
      if (error instanceof LedgerUnavailable) return null
      throw error
    })
    await authorize()
    if (news !== null && 'refused' in news) throw refusalFor(news.refused, 'console')
    if (news !== null && (!found || news.seq > after)) {
      yield news.lines
      after = Math.max(after, news.seq)
      found = true
      quiet = 1
    }
    if (news?.done) return
    await wait(backOffMs(quiet, PAUSE), undefined, { signal: disconnected })
  }
}

type Deps = Pick<ConsoleDeps, 'ledger' | 'stopping'>
interface Begun {
  project: string
  execution: string
}

/**
 * Answers with an execution that a user has begun: its record once it is over, or its progress as NDJSON.
 * @param authorize as of followExecution
 */
export async function sendExecution(
  deps: Deps,
  req: Request,
  res: Response,
  begun: Begun,
  authorize: () => Promise<void>,
): Promise<void> {
  res.set('X-Service-Invocation', begun.execution)
  await sendProgress(
    deps,
    res,
    (disconnected) => followExecution(deps, { ...begun, after: -1 }, authorize, disconnected),
    wantsNdjson(req) ? null : () => recordOf(deps, begun),
  )
}

async function recordOf({ ledger }: Deps, begun: Begun): Promise<string> {
  const answer = await ledger.readExecution({ caller: null, ...begun, detailed: true })
  if ('refused' in answer) throw refusalFor(answer.refused, 'console')
  return answer.record
}

/** The answer is the record, anything else is accepted, unless NDJSON is asked for. */
function wantsNdjson(req: Request): boolean {
  return req.accepts(['json', NDJSON]) === NDJSON
}

/**
 * JSON and NDJSON may both have spaces before a line, so a space every so often keeps proxies from giving up
 * (flows §4.4).
 */
const KEEP_ALIVE_MS = 15_000
const NDJSON = 'application/x-ndjson'

/**
 * Sends the lines of an execution as they come, or its record once they have ended. A reader who may not read anymore gets
 * no further line.
 * @param linesUntil the lines, until its signal aborts
 * @param record null: the lines are the answer
 * @throws Refusal while nothing has been sent
 */
export async function sendProgress(
  { stopping }: Pick<ConsoleDeps, 'stopping'>,
  res: Response,
  linesUntil: (disconnected: AbortSignal) => AsyncIterable<string>,
  record: (() => Promise<string>) | null = null,
): Promise<void> {
  const disconnected = AbortSignal.any([disconnectSignal(res), stopping])
  res.type(record === null ? NDJSON : 'json')
  const keepAlive = setInterval(() => res.write(' '), KEEP_ALIVE_MS)
  try {
    for await (const lines of linesUntil(disconnected)) {
      if (record !== null) continue
      res.flushHeaders()
      if (lines !== '') res.write(lines)
    }
    res.end(record === null ? '' : await record())
  } catch (error) {
    if (disconnected.aborted) return void res.destroy() // the client has left, or this process ends: the record stays to be read
    if (record !== null || !res.headersSent || !(error instanceof Refusal)) throw error
    res.end(`${JSON.stringify({ kind: 'refused', error: error.body })}\n`)
  } finally {
    clearInterval(keepAlive)
  }
}
