import { Prisma } from '@gateway/database/client'
import { refuse, Refusal } from '@gateway/contracts/refusal'
import { answerOfRefusal, type ExplainError } from '@gateway/service-kit/http/answer-errors'
import { requestIdOf } from '@gateway/service-kit/http/preamble'
import { LedgerUnavailable } from '@gateway/ledger-client/ledger-failures'
import type { ConsoleDeps } from '../deps.ts'
import { refusalPage, returnOfBrowser } from '../page/refusal-page.ts'
import { isDatabaseUnavailable, ranOutOfTime } from './database-failure.ts'

/** What a client is told of an error (rules §2.1). What is no refusal is logged, and never shown. @param stylesheet of a page for browsers */
export function explainError({ log }: Pick<ConsoleDeps, 'log'>, stylesheet: string): ExplainError {
  return (error, _req, res) => {
    const refusal = refusalFor(error)
    if (refusal.status >= 500) log.error({ err: error, requestId: requestIdOf(res) }, 'a request failed')
    const returnTo = returnOfBrowser(res)
    return returnTo === null ? answerOfRefusal(refusal) : refusalPage(refusal, stylesheet, returnTo)
  }
}

function refusalFor(error: unknown): Refusal {
  if (error instanceof Refusal) return error
  if (error instanceof LedgerUnavailable) return refuse(error.why, {})
  if (ranOutOfTime(error)) return tookTooLong()
  if (isDatabaseUnavailable(error)) return refuse('unavailable', {})
  if (error instanceof URIError || isReferenceDeleted(error)) return refuse('not_found', {})
  return refuse('internal_error', {})
}

/** What a new row refers to was there when it was authorized, and was deleted before the row was written. */
function isReferenceDeleted(error: unknown): boolean {
  return error instanceof Prisma.PrismaClientKnownRequestError && error.code === 'P2003'
}

function tookTooLong(): Refusal {
  return new Refusal(
    'unavailable',
    'The question took longer than a question may take, and was ended.',
    'Ask for less, such as a shorter time or a smaller limit; or ask again later, if the service is busy.',
    { retryAfterMs: null },
  )
}
