import type { ErrorRequestHandler, RequestHandler } from 'express'
import { Prisma } from '@gateway/database/client'
import { refuse, Refusal } from '@gateway/contracts/refusal'
import { LedgerUnavailable } from '@gateway/ledger-client/ledger-failures'
import type { Logger } from '@gateway/process/logger'
import { isForBrowser, sendRefusalPage } from '../page/refusal-page.ts'
import { requestIdOf } from './request-id.ts'

/** The one place that turns failures into answers (decisions.md, 1). What is no refusal is logged, and never shown. */
export function answerFailure({ log }: { log: Logger }): ErrorRequestHandler {
  return (error: unknown, _req, res, _next) => {
    const refusal = refusalFor(error)
    if (refusal.status >= 500) log.error({ err: error, requestId: requestIdOf(res) }, 'a request failed')
    if (res.headersSent) return void res.destroy()
    res.status(refusal.status).set(refusal.headers)
    if (isForBrowser(res)) sendRefusalPage(res, refusal)
    else res.json({ error: refusal.body })
  }
}

/** What is not there, whatever it is called. */
export const nothingHere: RequestHandler = () => {
  throw refuse('not_found', {})
}

function refusalFor(error: unknown): Refusal {
  if (error instanceof Refusal) return error
  if (error instanceof LedgerUnavailable) return refuse(error.why, {})
  if (isDatabaseAway(error)) return refuse('unavailable', {})
  if (error instanceof URIError || isReferenceGone(error)) return refuse('not_found', {})
  return refuse('internal_error', {})
}

/** What a new row refers to was there at the door, and was deleted before the row was written. */
function isReferenceGone(error: unknown): boolean {
  return error instanceof Prisma.PrismaClientKnownRequestError && error.code === 'P2003'
}

// Prisma: can't reach, timed out, closed, pool exhausted, transaction lost or in another's way. Postgres: lock not available,
// deadlock, shutting down.
const away = /^(P1001|P1002|P1008|P1017|P2024|P2028|P2034|40P01|55P03|57P0\d|08\d{3}|ECONN\w+|EPIPE)$/

function isDatabaseAway(error: unknown): boolean {
  if (error instanceof Prisma.PrismaClientInitializationError) return true
  const { code, meta } = error as {
    code?: unknown
    meta?: { driverAdapterError?: { cause?: Record<string, unknown> } }
  }
  const cause = meta?.driverAdapterError?.cause
  return [code, cause?.['originalCode'], cause?.['code']].some((each) => typeof each === 'string' && away.test(each))
}
