import type { RequestHandler, Response } from 'express'
import type { ConsoleDeps } from '../deps.ts'

const acceptable = /^[A-Za-z0-9._-]{8,64}$/

/** Puts an `X-Request-Id` on every answer: the one that came with the request where it is fit, so that it stays one. */
export function giveRequestId({ newId }: Pick<ConsoleDeps, 'newId'>): RequestHandler {
  return (req, res, next) => {
    const sent = req.get('X-Request-Id')
    const id = sent !== undefined && acceptable.test(sent) ? sent : newId('req')
    res.locals['requestId'] = id
    res.setHeader('X-Request-Id', id)
    next()
  }
}

export function requestIdOf(res: Response): string {
  return res.locals['requestId'] as string
}
