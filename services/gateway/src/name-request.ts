import type { RequestHandler } from 'express'
import type { Id } from '@gateway/contracts/ids'

/** Gives every answer its X-Request-Id (decisions.md, 1). */
export function nameRequest(mint: (prefix: 'req') => Id<'req'>): RequestHandler {
  return (_req, res, next) => {
    res.setHeader('X-Request-Id', mint('req'))
    next()
  }
}
