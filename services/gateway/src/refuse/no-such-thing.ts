import type { RequestHandler } from 'express'
import { refuse } from '@gateway/contracts/refusal'

/** Any path that is not ours; the refusal names those that are. */
export const notFound: RequestHandler = () => {
  throw refuse('not_found', {})
}

/** A path of ours with another method. */
export function allowOnly(allow: string): RequestHandler {
  return ({ method }) => {
    const facts = { method, allow }
    throw refuse('method_not_allowed', facts, { headers: { Allow: allow } })
  }
}
