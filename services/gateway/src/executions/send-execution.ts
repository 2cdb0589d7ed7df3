import type { IncomingMessage, ServerResponse } from 'node:http'
import { AssetMissing, AssetStoreUnavailable } from '@gateway/assets/blob-backend'
import type { AssetValue, ExecutionRecord, RefusedLine } from '@gateway/api/execution'
import { Refusal, refuse } from '@gateway/api/refusal'
import { untilNextLook } from '@gateway/service-kit/async/waiting'
import { sendJson } from '@gateway/service-kit/http/answers'
import { LedgerUnavailable } from '@gateway/ledger-client/call-operation'
import { type RecordedAsset, sendAsset } from '@gateway/assets/send-asset'
import type { Deps } from '../deps.ts'
import type { EndedExecution } from './await-execution.ts'
import type { Execution } from './start-execution.ts'
import { refusalFor } from '@gateway/ledger-protocol/ledger-refusal'
import { accessTopicOf, linesTopicOf, type PushedLines } from '@gateway/ledger-protocol/flow-reads'
import { times } from '@gateway/api/limits'
import type { ResponseStream } from '../response/response-stream.ts'

/** Sets the headers that name the execution, say whether it is a replay, and show rate limits (rules §2.2, §2.8). */
export function setExecutionHeaders(
  res: ServerResponse,
  { execution, replayed, rateHeaders }: Pick<Execution, 'execution' | 'replayed' | 'rateHeaders'>,
): void {
  res.setHeader('X-Service-Invocation', execution)
  if (replayed) res.setHeader('Idempotent-Replayed', 'true')
  for (const [name, value] of Object.entries(rateHeaders)) res.setHeader(name, value)
}

/** Sends the record of an execution as the ledger wrote it. */
export function sendRecord(res: ServerResponse, record: string): void {
  sendJson(res, 200, record, { 'Cache-Control': 'private, no-store' })
}

/**
 * Sends the image that the contract declares as the execution's output. Returns false if there is none; the response is
 * then the record (flows §4.5).
 * @throws Refusal `range_not_satisfiable`; `unavailable` if the bytes can't be read now
 */
export async function sendImage(
  deps: Pick<Deps, 'ledger' | 'assetStore'>,
  req: IncomingMessage,
  res: ServerResponse,
  { record, image: field }: EndedExecution,
): Promise<boolean> {
  if (field === null) return false
  const execution = JSON.parse(record) as ExecutionRecord
  const image = execution.output?.[field] as AssetValue | null | undefined
  if (!image) return false // an optional output that no branch reached
  try {
    const asset = await recordedAsset(deps, image.asset, execution.project)
    if (asset === null) return false
    await sendAsset(deps, req, res, asset)
    return true
  } catch (error) {
    if (error instanceof AssetMissing) return false
    const isOverloaded = error instanceof Refusal && error.code === 'overloaded'
    if (isOverloaded || error instanceof AssetStoreUnavailable || error instanceof LedgerUnavailable)
      throw notNow(execution.id)
    throw error
  }
}

/** Returns null if the asset has been removed. */
async function recordedAsset(
  { ledger }: Pick<Deps, 'ledger'>,
  asset: string,
  project: string,
): Promise<RecordedAsset | null> {
  const answer = await ledger.readAsset({ caller: { project }, asset })
  return 'refused' in answer ? null : answer.asset
}

function notNow(execution: string): Refusal {
  return new Refusal(
    'unavailable',
    `The execution ${execution} has succeeded and is charged, and its image cannot be read now.`,
    'Repeat the request with the same Idempotency-Key after Retry-After seconds: nothing is charged for it again. Accept: application/json answers the record.',
  )
}

// The progress of an execution, as lines (flows §4.4).
//   P1  Lines are the ledger's text, which it sends through Redis. Those that continue the last one written are passed
//       on; if some are missing, or too large to be sent, they are read. None is missed or duplicated.
//   P2  The next lines are taken once a slow caller has caught up. A caller that disconnects ends the stream. Neither
//       affects the execution.
//   P3  A stopping process ends the response after a complete line. The kind of that line shows that it isn't the last.
//   P4  Each poll authorizes the reader again, at least once a second, and before any further line once someone has lost
//       access to the project. A reader that has lost access gets the reason and no further line. So does, after a
//       minute, a caller that repeated the start of a running execution (rules §5.2, §5.3).
//   P5  Followers poll at the same instants, and those of one key share their polls.

/** Topic of new lines. */
export const lineTopicOf = linesTopicOf

/** Poll interval without notifications. */
const LOOK_EVERY_MS = 1_000

const NOTHING_NEW = { lines: '', seq: -1, done: false }

type Lines = Pick<PushedLines, 'lines' | 'seq' | 'done'>

type Followed = Pick<Execution, 'execution' | 'project' | 'caller' | 'replayed' | 'waitForChange' | 'pushed'> & {
  /** Last line that the reader has; absent if none. */
  after?: number
}

/** @throws Refusal `idempotency_in_progress`, or as a repeat of the start would be refused now */
export async function streamProgress(
  { lookAtProgress, notifier, openCalls, now }: Pick<Deps, 'lookAtProgress' | 'notifier' | 'openCalls' | 'now'>,
  stream: ResponseStream,
  { execution, project, caller, replayed, waitForChange, pushed, after: from = -1 }: Followed,
  disconnected: AbortSignal,
  lookEveryMs = LOOK_EVERY_MS,
): Promise<void> {
  const untilMs = replayed ? now() + times.joinMs : Infinity // P4
  let authorizedMs = -Infinity
  let mustAuthorize = true
  const unwatch = notifier.subscribe(accessTopicOf(project), () => (mustAuthorize = true))

  /** @throws Refusal if the reader has lost access */
  async function look(after: number): Promise<Lines> {
    const before = mustAuthorize
    mustAuthorize = false // before the question: what is lost while it is on its way counts
    try {
      const answer = await lookAtProgress({ execution, after, caller, project })
      if ('refused' in answer) throw refusalFor(answer.refused, 'invoke') // P4
      authorizedMs = now()
      return answer
    } catch (error) {
      if (!(error instanceof LedgerUnavailable)) throw error
      mustAuthorize ||= before
      return (mustAuthorize ? null : pushed.take(after)) ?? NOTHING_NEW
    }
  }

  try {
    stream.open()
    for (let after = from; ; await waitForChange(untilNextLook(now(), lookEveryMs))) {
      const isAuthorized = !mustAuthorize && now() - authorizedMs < lookEveryMs
      const { lines, seq, done } = (isAuthorized && pushed.take(after)) || (await look(after)) // P1
      if (done) return stream.end(lines)
      if (lines !== '') await stream.write(lines) // P2
      after = Math.max(after, seq)
      if (disconnected.aborted) return
      if (openCalls.cancellation.aborted) return stream.end('') // P3
      if (now() >= untilMs) throw refuse('idempotency_in_progress', {})
    }
  } finally {
    unwatch()
  }
}

/** Returns the final line, with its newline, for a reader that gets no further ones. */
export function refusedLine({ body }: Pick<Refusal, 'body'>): string {
  const line: RefusedLine = { kind: 'refused', error: body }
  return `${JSON.stringify(line)}\n`
}
