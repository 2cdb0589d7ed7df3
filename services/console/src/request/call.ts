import type { Request, RequestHandler, Response } from 'express'
import type { AnswerOf, ApiRoute, CheckedBodyOf, CheckedQueryOf, ParameterOf } from '@gateway/api/api-route'
import { consoleRoutes, type ConsoleOperation, type ConsoleRoutes } from '@gateway/api/console-routes'
import { id as pathId } from '@gateway/api/console/fields'
import { refuse } from '@gateway/api/refusal'
import { check } from './check.ts'
import { requireScopes } from '../sign-in/scopes.ts'
import { isSignedIn, userOf } from '../sign-in/user.ts'
import { parseJsonObject } from '@gateway/service-kit/http/read-body'
import { bodyOf } from './receive-first.ts'

/**
 * A request as described by its route in the contract. Its input is validated only when the handler reads it, so a
 * handler can authorize first: a user without permission gets that refusal even if their input is invalid.
 */
export interface Call<Row extends Pick<ApiRoute, 'path'>> {
  req: Request
  /**
   * Returns an ID from the path, percent-decoded.
   * @throws Refusal `not_found` for a string that can't be an ID
   */
  id(name: ParameterOf<Row>): string
  /** @throws Refusal `invalid_request` */
  query(): CheckedQueryOf<Row>
  /** @throws Refusal `request_too_large`, `invalid_json`, `invalid_request` */
  body(): Promise<CheckedBodyOf<Row>>
  /**
   * Returns the body as sent, without validation.
   * @throws Refusal `request_too_large`, `invalid_json`
   */
  sentBody(): Promise<Record<string, unknown>>
  /**
   * Looks up again who sends a body that the handler receives itself.
   * @throws Refusal `token_invalid`, `session_missing`
   */
  authenticateAgain(): Promise<void>
}

/** Handler of an operation. */
export type Handler<Operation extends ConsoleOperation> = (
  call: Call<ConsoleRoutes[Operation]>,
  res: Response<AnswerOf<ConsoleRoutes[Operation]>>,
) => void | Promise<void>

/** Handlers by operation. */
export type Handlers = { readonly [Operation in ConsoleOperation]: Handler<Operation> }

/**
 * Adapts handlers to Express. A personal token without the scopes of the row is refused before its handler runs.
 *
 * A signed-in user's handler runs once the body has arrived, which can take a minute. A user who is disabled or removed
 * in that time would otherwise be authorized before and make the change after. If the body was late, the user is looked
 * up again.
 */
export function requestHandlers(
  handlers: Handlers,
  authenticateAgain: (req: Request, res: Response) => Promise<void>,
): Record<ConsoleOperation, RequestHandler> {
  const operations = Object.keys(consoleRoutes) as ConsoleOperation[]
  const each = operations.map((operation) => {
    const handle = handlers[operation] as (call: unknown, res: Response) => void | Promise<void>
    const row: ApiRoute = consoleRoutes[operation]
    const checked = async (req: Request, res: Response) => {
      const { arrived, ...call } = callOf(row, req, () => authenticateAgain(req, res))
      if (isSignedIn(res)) {
        requireScopes(row, userOf(res))
        if (row.body && !req.complete) {
          await arrived()
          await call.authenticateAgain()
        }
      }
      return handle(call, res)
    }
    return [operation, checked]
  })
  return Object.fromEntries(each) as Record<ConsoleOperation, RequestHandler>
}

function callOf({ query, body, maxBodyBytes }: ApiRoute, req: Request, authenticateAgain: () => Promise<void>) {
  let bytes: Promise<Buffer> | null = null
  let sent: Promise<Record<string, unknown>> | null = null
  const read = () => (bytes ??= bodyOf(req, maxBodyBytes ?? LIMIT_BYTES))
  const sentBody = () => (sent ??= read().then(parseJsonObject))
  return {
    req,
    id: (name: string) => idFrom(req, name),
    query: () => query && check(query, req.query),
    body: async () => body && check(body, await sentBody()),
    sentBody,
    authenticateAgain,
    /** Waits for the body. What is wrong with it is refused only when the handler reads it. */
    arrived: () => read().catch(() => {}),
  }
}

function idFrom({ params }: Request, name: string): string {
  const read = pathId.safeParse(params[name])
  if (read.success) return read.data
  throw refuse('not_found', {})
}

const LIMIT_BYTES = 256 * 1024
