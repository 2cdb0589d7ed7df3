import express, { type Express, type Request, type RequestHandler, type Response } from 'express'
import { refuse } from '@gateway/api/refusal'
import type { ApiRoute } from '@gateway/api/api-route'

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** `path` is an Express pattern, such as `/v1/models/:id`. */
export type Route = readonly [method: Method, path: string, handle: RouteHandler]

/** A handler for any path parameters. */
export type RouteHandler = (req: Request<never>, res: Response, next: () => void) => unknown

/** Mounts a table of routes in order; on a known path every other method is refused with `method_not_allowed`. */
export function mountRoutes(app: Express, routes: readonly Route[]): void {
  for (const [path, ofPath] of Map.groupBy(routes, ([, path]) => path)) {
    const route = app.route(path)
    for (const [method, , handle] of ofPath) route[lowerCase(method)](handle as RequestHandler)
    route.all(allowOnly(ofPath.map(([method]) => method).join(', ')))
  }
}

/**
 * Refuses another method on a known path, by an error for `answerErrors`.
 * @param allow the allowed methods, as in the header `Allow`: `GET, POST`
 */
export function allowOnly(allow: string): RequestHandler {
  return ({ method }) => {
    throw refuse('method_not_allowed', { method, allow }, { headers: { Allow: allow } })
  }
}

/** Refuses an unknown path, by an error for `answerErrors`. */
export const notFound: RequestHandler = () => {
  throw refuse('not_found', {})
}

function lowerCase(method: Method) {
  return method.toLowerCase() as Lowercase<Method>
}

/**
 * Returns the rows of a contract as routes, each with the handler of its operation. An operation without a handler does
 * not compile.
 * @param handlers null for an operation that is not served here
 */
export function contractRoutes<Operation extends string>(
  rows: Readonly<Record<Operation, ApiRoute>>,
  handlers: Readonly<Record<NoInfer<Operation>, RouteHandler | null>>,
  isWanted: (row: ApiRoute) => boolean = () => true,
): Route[] {
  const operations = Object.keys(rows) as Operation[]
  return operations.flatMap((operation) => {
    const [row, handle] = [rows[operation], handlers[operation]]
    return handle !== null && isWanted(row) ? [[row.method, expressPath(row), handle] as const] : []
  })
}

/** Express writes `:id` and, for the rest of a path, `*id`. */
function expressPath({ path, restParameter }: ApiRoute): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => (name === restParameter ? '*' : ':') + name)
}

/** An Express application without `X-Powered-By` and ETag headers. */
export function openApp(): Express {
  const app = express()
  app.disable('x-powered-by')
  app.set('etag', false)
  return app
}

type Asked = Pick<Request, 'headers' | 'accepts'>

/**
 * Returns the one of these content types that an Accept header prefers, or false if it accepts none. Parameters of a
 * type other than `q`, such as `charset`, say nothing here.
 */
export function acceptedType(req: Asked, types: string[]): string | false {
  const accept = req.headers.accept?.replaceAll(PARAMETER, '')
  const plain = Object.create(req, { headers: { value: { ...req.headers, accept } } }) as Asked
  return plain.accepts(types)
}

/** A parameter of a type in an Accept header, other than its quality. */
const PARAMETER = /;\s*(?!q\s*=)[^;,="]+=(?:"[^"]*"|[^;,]*)/gi

/** Whether an Accept header names no content type: it is absent, empty, or `*\/*` alone. */
export function namesNoType({ headers: { accept = '' } }: Pick<Request, 'headers'>): boolean {
  return /^\s*(?:\*\/\*\s*(?:;[^,]*)?)?$/.test(accept)
}
