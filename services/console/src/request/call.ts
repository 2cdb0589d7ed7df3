import type { Request, RequestHandler, Response } from 'express'
import type { AnswerOf, ApiRoute, CheckedBodyOf, CheckedQueryOf, ParameterOf } from '@gateway/api/api-route'
import { consoleRoutes, type ConsoleOperation, type ConsoleRoutes } from '@gateway/api/console-routes'
import { id as pathId } from '@gateway/api/console/fields'
import { refuse } from '@gateway/api/refusal'
import { check } from './check.ts'
import { readJsonBody } from './read-json-body.ts'

/**
 * A request as its row of the contract describes it. What was sent is checked when the handler asks for it, so that a handler
 * first says who may ask: a user who may not learns so, no matter what they sent.
 */
export interface Call<Row extends Pick<ApiRoute, 'path'>> {
  req: Request
  /**
   * An id from the path, percent-decoded.
   * @throws Refusal `not_found` for a text that can't be an id of anything
   */
  id(name: ParameterOf<Row>): string
  /** @throws Refusal `invalid_request` */
  query(): CheckedQueryOf<Row>
  /** @throws Refusal `request_too_large`, `invalid_json`, `invalid_request` */
  body(): Promise<CheckedBodyOf<Row>>
  /**
   * The body as it was sent, unchecked.
   * @throws Refusal `request_too_large`, `invalid_json`
   */
  sentBody(): Promise<Record<string, unknown>>
}

/** What serves an operation. */
export type Handler<Operation extends ConsoleOperation> = (
  call: Call<ConsoleRoutes[Operation]>,
  res: Response<AnswerOf<ConsoleRoutes[Operation]>>,
) => void | Promise<void>

/** One for each operation; null where this console is not set up for it. */
export type Handlers = { readonly [Operation in ConsoleOperation]: Handler<Operation> | null }

/** The same as Express calls them. */
export function requestHandlers(handlers: Handlers): Record<ConsoleOperation, RequestHandler | null> {
  const operations = Object.keys(consoleRoutes) as ConsoleOperation[]
  const each = operations.map((operation) => {
    const handle = handlers[operation] as ((call: unknown, res: Response) => void | Promise<void>) | null
    const row: ApiRoute = consoleRoutes[operation]
    return [operation, handle && ((req: Request, res: Response) => handle(callOf(row, req), res))]
  })
  return Object.fromEntries(each) as Record<ConsoleOperation, RequestHandler | null>
}

function callOf({ query, body, maxBodyBytes }: ApiRoute, req: Request) {
  let sent: Promise<Record<string, unknown>> | null = null
  const sentBody = () => (sent ??= readJsonBody(req, maxBodyBytes))
  return {
    req,
    id: (name: string) => idFrom(req, name),
    query: () => query && check(query, req.query),
    body: async () => body && check(body, await sentBody()),
    sentBody,
  }
}

function idFrom({ params }: Request, name: string): string {
  const read = pathId.safeParse(params[name])
  if (read.success) return read.data
  throw refuse('not_found', {})
}
