import { setTimeout as wait } from 'node:timers/promises'
import { backOffMs, untilNextLook } from '@gateway/service-kit/async/waiting'
import { refusalFor } from '@gateway/ledger-protocol/ledger-refusal'
import { LedgerUnavailable } from '@gateway/ledger-client/call-operation'
import type { ConsoleDeps, FollowerLooks, Reader } from '../deps.ts'
import { sentSecret, authenticatedBy } from '../sign-in/authenticate.ts'
import type { Request, Response } from 'express'
import { Refusal } from '@gateway/api/refusal'
import { acceptedType } from '@gateway/service-kit/http/routes'
import { disconnectSignal } from '@gateway/service-kit/http/read-body'
import { openSharedLook } from '@gateway/service-kit/async/shared-look'
import { mayUseSandboxes } from '../permissions/authorize.ts'
import { queryAs } from '../request/request-limits.ts'

/**
 * Polling interval: short at first, to report short executions immediately, up to once a second for long ones. Followers
 * poll at the same instants, and share their polls.
 */
const PAUSE = { firstMs: 25, maxMs: 1_000 }

export interface Followed {
  project: string
  execution: string
  /** Last line that the reader already has; -1: none. */
  after: number
}

/**
 * Yields the progress lines of an execution as NDJSON text, up to `complete`. The first poll yields even if there is no
 * line yet. The ledger is polled: an execution continues without listeners, so an unreachable ledger only delays lines.
 *
 * Each poll is authorized again after the read, so every line sent was read while the reader still had access.
 * @param authorize throws a Refusal once the reader has lost access
 * @param disconnected aborts when the client has disconnected; the promise then rejects
 * @throws Refusal `execution_not_found`
 */
export async function* followExecution(
  { followerLooks, now }: Pick<ConsoleDeps, 'followerLooks' | 'now'>,
  { project, execution, after: from }: Followed,
  authorize: () => Promise<void>,
  disconnected: AbortSignal,
): AsyncGenerator<string> {
  let after = from
  let found = false
  for (let quiet = 1; ; quiet++) {
    disconnected.throwIfAborted()
    const news = await followerLooks.progress({ execution, after, project }).catch((error: unknown) => {
      if (error instanceof LedgerUnavailable) return null
      throw error
    })
    await authorize()
    if (news !== null && 'refused' in news) throw refusalFor(news.refused, 'console')
    if (news !== null && (!found || news.seq > after)) {
      yield news.lines
      after = Math.max(after, news.seq)
      found = true
      quiet = 1
    }
    if (news?.done) return
    await wait(untilNextLook(now().getTime(), backOffMs(quiet, PAUSE)), undefined, { signal: disconnected })
  }
}

/** Returns the `authorize` of a reader of a project's executions, who is refused once they may not use them. */
export function authorizeReader(
  deps: Pick<ConsoleDeps, 'followerLooks' | 'publicUrl'>,
  req: Request,
  of: { tenant: string; project: string },
  refusal: () => Refusal,
): () => Promise<void> {
  const reader = { ...sentSecret(deps, req), ...of }
  return async () => {
    if (!(await deps.followerLooks.mayUseSandboxes(reader))) throw refusal()
  }
}

type Deps = Pick<ConsoleDeps, 'ledger' | 'followerLooks' | 'now' | 'stopping'>
interface Begun {
  project: string
  execution: string
}

/**
 * Responds with an execution started by a user: its record once it has ended, or its progress as NDJSON.
 * @param authorize as in followExecution
 */
export async function sendExecution(
  deps: Deps,
  req: Request,
  res: Response,
  begun: Begun,
  authorize: () => Promise<void>,
): Promise<void> {
  res.set('X-Service-Invocation', begun.execution)
  await sendProgress(
    deps,
    res,
    (disconnected) => followExecution(deps, { ...begun, after: -1 }, authorize, disconnected),
    wantsNdjson(req) ? null : () => recordOf(deps, begun),
  )
}

async function recordOf({ ledger }: Deps, begun: Begun): Promise<string> {
  const answer = await ledger.readExecution({ caller: null, ...begun, detailed: true })
  if ('refused' in answer) throw refusalFor(answer.refused, 'console')
  return answer.record
}

/** Whether the client asks for NDJSON. With any other Accept header the response is the record. */
function wantsNdjson(req: Request): boolean {
  return acceptedType(req, ['application/json', NDJSON]) === NDJSON
}

/**
 * Both JSON and NDJSON allow spaces before a line, so a space at this interval keeps proxies from timing out
 * (flows §4.4).
 */
const KEEP_ALIVE_MS = 15_000
const NDJSON = 'application/x-ndjson'

/**
 * Sends the lines of an execution as they arrive, or its record once they have ended. A reader who loses access gets no
 * further lines.
 * @param linesUntil yields the lines until its signal aborts
 * @param record null: the lines are the response
 * @throws Refusal as long as nothing has been sent
 */
export async function sendProgress(
  { stopping }: Pick<ConsoleDeps, 'stopping'>,
  res: Response,
  linesUntil: (disconnected: AbortSignal) => AsyncIterable<string>,
  record: (() => Promise<string>) | null = null,
): Promise<void> {
  const disconnected = AbortSignal.any([disconnectSignal(res), stopping])
  res.type(record === null ? NDJSON : 'json')
  const keepAlive = setInterval(() => res.write(' '), KEEP_ALIVE_MS)
  try {
    for await (const lines of linesUntil(disconnected)) {
      if (record !== null) continue
      res.flushHeaders()
      if (lines !== '') res.write(lines)
    }
    res.end(record === null ? '' : await record())
  } catch (error) {
    if (disconnected.aborted) return void res.destroy() // the client has disconnected or this process stops; the record can still be read
    if (record !== null || !res.headersSent || !(error instanceof Refusal)) throw error
    res.end(`${JSON.stringify({ kind: 'refused', error: error.body })}\n`)
  } finally {
    clearInterval(keepAlive)
  }
}

// What followers of executions look up at each poll. Followers poll at the same instants and share what is the same for
// them: the lines of an execution, and the rights of a user or token in a project.

/** All followers together have the turns of one user at the database. */
const FOLLOWERS = { party: 'followers' }

type LooksDeps = Pick<ConsoleDeps, 'prisma' | 'now' | 'sessionLimits'> & {
  ledger: Pick<ConsoleDeps['ledger'], 'followExecution'>
}

export function openFollowerLooks(deps: LooksDeps): FollowerLooks {
  return {
    progress: openSharedLook((question) => deps.ledger.followExecution(question)),
    mayUseSandboxes: openSharedLook(({ tenant, project, ...sent }: Reader) =>
      queryAs(FOLLOWERS, async () => mayUseSandboxes(deps.prisma, await authenticatedBy(deps, sent), tenant, project)),
    ),
  }
}
