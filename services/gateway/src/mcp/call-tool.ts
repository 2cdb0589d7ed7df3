import type { IncomingHttpHeaders } from 'node:http'
import { ProtocolError, ProtocolErrorCode, type CallToolResult, type ServerContext } from '@modelcontextprotocol/server'
import type { ExecutionRecord } from '@gateway/contracts/execution'
import { refuse, Refusal } from '@gateway/contracts/refusal'
import { ClientDisconnected } from '@gateway/service-kit/http/client-disconnected'
import { withSpan } from '@gateway/service-kit/process/spans'
import type { Deps } from '../deps.ts'
import { explainError } from '../errors/explain-error.ts'
import { awaitExecution, endTopicOf } from '../executions/await-execution.ts'
import { setExecutionHeaders } from '../executions/send-execution.ts'
import { startExecution, type Execution } from '../executions/start-execution.ts'
import { lineTopicOf, streamProgress } from '../executions/stream-progress.ts'
import { fingerprintOf } from '../request/fingerprint.ts'
import { readIdempotencyKey } from '../request/read-headers.ts'
import { withCallSpan } from '../tracing.ts'
import { TOOL } from './describe-tool.ts'
import { executionResult, refusedResult } from './execution-result.ts'
import type { McpRequest } from './mcp-request.ts'
import { openProgressNotifier } from './progress-notifier.ts'

// tools/call: the same execution as an HTTP invoke of the same key and input (flows §5.3).
//   T1  What the caller can clear is a result with `isError`, so that the model reads what clears it. Only what is no
//       call of this tool at all is an error of JSON-RPC.
//   T2  The execution does not need its caller: one who leaves stops nothing, and finds the execution again by their
//       key.

type Params = { name: string; arguments?: Record<string, unknown> | undefined }
type RpcRequest = Pick<ServerContext['mcpReq'], '_meta' | 'notify'>
type Needed = Parameters<typeof startExecution>[0] &
  Parameters<typeof awaitExecution>[0] &
  Pick<Deps, 'ledger' | 'assetStore' | 'log' | 'metrics' | 'now' | 'refusals'>

const ROUTE = 'POST /v1/sandbox/{id}/mcp'

export async function callTool(
  deps: Needed,
  request: McpRequest,
  params: Params,
  rpc: RpcRequest,
): Promise<CallToolResult> {
  const startMs = deps.now()
  try {
    if (params.name !== TOOL) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${params.name}`)
    const input = params.arguments ?? {}
    return await withCallSpan(ROUTE, traceOf(request, rpc), () => execute(deps, request, input, rpc))
  } catch (error) {
    if (error instanceof ClientDisconnected || error instanceof ProtocolError) throw error
    return refusedResult(explainError(deps, error, request.res)) // T1
  } finally {
    request.begun.resolve()
    deps.metrics.invoked('mcp', deps.now() - startMs)
  }
}

async function execute(
  deps: Needed,
  request: McpRequest,
  input: Record<string, unknown>,
  rpc: RpcRequest,
): Promise<CallToolResult> {
  const { caller, sandbox, disconnected, res } = request
  const key = readIdempotencyKey(request.req)
  if (key === null) throw keyMissing()
  const idempotency = { key, fingerprint: fingerprintOf({ input }) }
  const asked = { ...caller, sandbox: sandbox.id, revision: null, surface: 'invoke', input, idempotency } as const
  const topicOf = rpc._meta?.progressToken === undefined ? endTopicOf : lineTopicOf
  const execution = await withSpan('start', {}, () => startExecution(deps, asked, request, topicOf))
  try {
    if (!res.headersSent) setExecutionHeaders(res, execution)
    request.begun.resolve()
    const record = await withSpan('run', {}, () => endOf(deps, execution, disconnected, rpc))
    return await executionResult(deps, record)
  } finally {
    execution.close()
  }
}

async function endOf(
  deps: Needed,
  execution: Execution,
  disconnected: AbortSignal,
  { _meta, notify }: RpcRequest,
): Promise<ExecutionRecord> {
  const token = _meta?.progressToken
  if (token === undefined)
    return JSON.parse((await awaitExecution(deps, execution, disconnected)).record) as ExecutionRecord
  const notifier = openProgressNotifier(token, notify)
  await streamProgress(deps, notifier, execution, disconnected)
  if (disconnected.aborted) throw new ClientDisconnected() // T2
  const record = await notifier.ended()
  if (record === null) throw refuse('idempotency_in_progress', {})
  return record
}

/** The caller's trace: `_meta` of the message names it, or else the headers do. */
function traceOf({ req }: McpRequest, { _meta = {} }: RpcRequest): IncomingHttpHeaders {
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
