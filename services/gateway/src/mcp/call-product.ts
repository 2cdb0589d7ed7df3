import type { IncomingHttpHeaders } from 'node:http'
import { ProtocolError, ProtocolErrorCode, type CallToolResult, type ServerContext } from '@modelcontextprotocol/server'
import type { ExecutionRecord } from '@gateway/contracts/execution'
import { refuse, Refusal } from '@gateway/contracts/refusal'
import { CallerGone } from '../receive/caller-gone.ts'
import { fingerprintOf } from '../receive/fingerprint.ts'
import { readIdempotencyKey } from '../receive/read-idempotency-key.ts'
import type { ExplainFailure } from '../refuse/explain-failure.ts'
import { endTopicOf, type AwaitExecution } from '../run/await-run.ts'
import { nameExecution } from '../run/name-run.ts'
import type { Execution, StartExecution } from '../run/start-run.ts'
import { lineTopicOf, type StreamProgress } from '../run/stream-progress.ts'
import type { Trace } from '../trace.ts'
import { TOOL } from './describe-tool.ts'
import { refusedResult, type ExecutionResult } from './run-result.ts'
import { progressTeller } from './tell-progress.ts'
import type { Visit } from './visit.ts'

// tools/call: the same run as an HTTP invoke of the same key and input (decisions.md, 4).
//   T1  What the caller can clear is a result with `isError`, so that the model reads what clears it. Only what is no call of this
//       tool at all is an error of JSON-RPC.
//   T2  The run doesn't know who waits for it: a caller who leaves stops nothing, and finds the run again by his key.

type Params = { name: string; arguments?: Record<string, unknown> | undefined }
type Request = Pick<ServerContext['mcpReq'], '_meta' | 'notify'>

export type CallProduct = (visit: Visit, params: Params, request: Request) => Promise<CallToolResult>

interface Deps {
  startExecution: StartExecution
  awaitExecution: AwaitExecution
  streamProgress: StreamProgress
  executionResult: ExecutionResult
  explain: ExplainFailure
  metrics: { invoked(kind: 'mcp', durationMs: number): void }
  trace: Trace
  /** Unix milliseconds. */
  now: () => number
}

export function productCaller(deps: Deps): CallProduct {
  const { startExecution, awaitExecution, streamProgress, executionResult, explain, metrics, trace, now } = deps

  return async (visit, params, request) => {
    const startedMs = now()
    try {
      if (params.name !== TOOL) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${params.name}`)
      return await trace.received(traceOf(visit, request), NAME, () => call(visit, params.arguments ?? {}, request))
    } catch (error) {
      if (error instanceof CallerGone || error instanceof ProtocolError) throw error
      return refusedResult(explain(error, visit.res)) // T1
    } finally {
      visit.begun.resolve()
      metrics.invoked('mcp', now() - startedMs)
    }
  }

  async function call(visit: Visit, input: Record<string, unknown>, request: Request): Promise<CallToolResult> {
    const { caller, sandbox, gone, place, res } = visit
    const key = readIdempotencyKey(visit.req)
    if (key === null) throw keyMissing()
    const asked = {
      ...caller,
      sandbox: sandbox.id,
      revision: null,
      surface: 'invoke' as const,
      input,
      idempotency: { key, fingerprint: fingerprintOf({ input }) },
    }
    const token = request._meta?.progressToken
    const run = await trace('start', () =>
      startExecution(asked, { gone, place }, token === undefined ? endTopicOf : lineTopicOf),
    )
    try {
      if (!res.headersSent) nameExecution(res, run)
      visit.begun.resolve()
      const record = await trace('run', () => endOf(run, gone, request))
      return await executionResult(record)
    } finally {
      run.waiter.close()
    }
  }

  async function endOf(run: Execution, gone: AbortSignal, { _meta, notify }: Request): Promise<ExecutionRecord> {
    const token = _meta?.progressToken
    if (token === undefined) return JSON.parse(await awaitExecution(run, gone)) as ExecutionRecord
    const teller = progressTeller(token, notify)
    await streamProgress(teller, run, gone)
    if (gone.aborted) throw new CallerGone() // T2
    const record = await teller.ended()
    if (record === null) throw refuse('idempotency_in_progress', {})
    return record
  }
}

const NAME = 'POST /v1/sandbox/{id}/mcp'

/** The caller's trace: `_meta` of the message names it, or else the headers do. */
function traceOf({ req }: Visit, { _meta = {} }: Request): IncomingHttpHeaders {
  const { traceparent, tracestate, baggage } = _meta as Record<string, unknown>
  if (typeof traceparent !== 'string') return req.headers
  return {
    traceparent,
    ...(typeof tracestate === 'string' && { tracestate }),
    ...(typeof baggage === 'string' && { baggage }),
  }
}

function keyMissing(): Refusal {
  return new Refusal(
    'idempotency_key_required',
    'This call of the tool came without an Idempotency-Key header, so nothing was run.',
    'Send the HTTP header Idempotency-Key with each tools/call: 8 to 128 visible ASCII characters such as a UUID, new for each intended run and the same for its retries. A client that can not send a header per call reaches this server through the stdio bridge that comes with the service.',
  )
}
