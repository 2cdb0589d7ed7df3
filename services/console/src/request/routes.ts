import type { Express, RequestHandler } from 'express'
import { refuse } from '@gateway/contracts/refusal'

export type Route = readonly [method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE', path: string, handle: RequestHandler]

/** Mounts a table of routes; on a known path every other method is `method_not_allowed`. */
export function mountRoutes(app: Express, routes: readonly Route[]): void {
  const byPath = Map.groupBy(routes, ([, path]) => path)
  for (const [path, ways] of byPath) {
    const route = app.route(path)
    for (const [method, , handle] of ways) route[lowerCase(method)](handle)
    const allow = ways.map(([method]) => method).join(', ')
    route.all((req) => {
      const facts = { method: req.method, allow }
      throw refuse('method_not_allowed', facts, { headers: { Allow: allow } })
    })
  }
}

function lowerCase(method: Route[0]) {
  return method.toLowerCase() as Lowercase<Route[0]>
}
