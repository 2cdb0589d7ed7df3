import { flowRoutes } from '@gateway/api/flow-routes'
import { gatewayRoutes } from '@gateway/api/gateway-routes'
import { Refusal } from '@gateway/api/refusal'
import type { RequestHandler } from 'express'

const CHAT = '/v1/chat/completions'
const paths = Object.values({ ...gatewayRoutes, ...flowRoutes }).map(({ path }) => path)
/** Ends of paths at which other APIs generate text. */
const TEXT = /\/(completions|generate|chat)$/

/**
 * Refuses an unknown path, and names the one that was probably meant. The message alone says both, because most SDKs
 * show nothing else.
 */
export const unknownPath: RequestHandler = ({ method, path }) => {
  const asked = path.slice(0, 200)
  const meant = nearestPath(asked)
  throw new Refusal(
    'not_found',
    `${method} ${asked} does not exist here${meant === null ? '.' : `; use ${meant}.`}`,
    `Check the path: a base URL ends with /v1, chat models are called with POST ${CHAT}, and /docs lists what there is.`,
  )
}

/** Returns the path of the API with the same end, or null. */
export function nearestPath(asked: string): string | null {
  const end = asked.replace(/\/+$/, '').replace(/^.*\/v1\//, '/')
  const same = paths.find((path) => path === `/v1${end}`)
  if (same !== undefined && end !== '') return same
  return TEXT.test(end) ? CHAT : null
}

/** GET /: leads a browser to the console, and a program to the documentation. */
export const welcome: RequestHandler = (req, res) => {
  res.set('Vary', 'Accept').redirect(302, req.accepts(['json', 'html']) === 'html' ? '/console' : '/llms.txt')
}
