import type { Express, Request, RequestHandler, Response } from 'express'
import { refuse } from '@gateway/contracts/refusal'

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** `path` is a pattern of Express, such as `/v1/models/:id`. */
export type Route = readonly [method: Method, path: string, handle: RouteHandler]

/** A handler of whatever parameters its path has. */
export type RouteHandler = (req: Request<never>, res: Response, next: () => void) => unknown

/** Mounts a table of routes in its order; on a known path every other method is refused `method_not_allowed`. */
export function mountRoutes(app: Express, routes: readonly Route[]): void {
  for (const [path, ofPath] of Map.groupBy(routes, ([, path]) => path)) {
    const route = app.route(path)
    for (const [method, , handle] of ofPath) route[lowerCase(method)](handle as RequestHandler)
    route.all(allowOnly(ofPath.map(([method]) => method).join(', ')))
  }
}

/**
 * Refuses a path of ours with another method, by an error for `answerErrors`.
 * @param allow the methods that there are, as the header `Allow` says them: `GET, POST`
 */
export function allowOnly(allow: string): RequestHandler {
  return ({ method }) => {
    throw refuse('method_not_allowed', { method, allow }, { headers: { Allow: allow } })
  }
}

/** Refuses any path that is not ours, by an error for `answerErrors`. */
export const notFound: RequestHandler = () => {
  throw refuse('not_found', {})
}

function lowerCase(method: Method) {
  return method.toLowerCase() as Lowercase<Method>
}
