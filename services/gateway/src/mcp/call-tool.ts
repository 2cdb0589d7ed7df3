import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import {
  type CallToolResult,
  type ContentBlock,
  type Notification,
  ProtocolError,
  ProtocolErrorCode,
  type ServerContext,
  type AuthInfo,
} from '@modelcontextprotocol/server'
import type { AssetValue, ExecutionRecord, ProgressLine, Values } from '@gateway/api/execution'
import { flowLimits } from '@gateway/api/limits'
import { Refusal, type RefusalBody, refuse } from '@gateway/api/refusal'
import { ClientDisconnected } from '@gateway/service-kit/http/read-body'
import { withSpan } from '@gateway/service-kit/process/spans'
import type { Deps } from '../deps.ts'
import { asFollower } from '../admission/limits.ts'
import { explainError } from '../errors/explain-error.ts'
import { awaitExecution, endTopicOf } from '../executions/await-execution.ts'
import { lineTopicOf, setExecutionHeaders, streamProgress } from '../executions/send-execution.ts'
import { type Execution, startExecution } from '../executions/start-execution.ts'
import { invocationFingerprint } from '../request/input-aliases.ts'
import { MAX_ID_CHARACTERS, readIdempotencyKey, readTag } from '../request/read-headers.ts'
import { withCallSpan } from '../tracing.ts'
import { inputOf, TOOL } from './describe-tool.ts'
import type { ResponseStream } from '../response/response-stream.ts'
import { AssetMissing, AssetStoreUnavailable } from '@gateway/assets/blob-backend'
import { LedgerUnavailable } from '@gateway/ledger-client/call-operation'
import type { RecordedAsset } from '@gateway/assets/send-asset'
import type { Id } from '@gateway/api/ids'
import type { ActiveSandbox } from '@gateway/ledger-protocol/flow-reads'
import type { CallerQuestion } from '@gateway/ledger-protocol/ledger-reads'

// tools/call: the same execution as an HTTP invoke with the same key and input (flows §5.3).
//   T1  An error that the caller can clear is a result with `isError`, so that the model reads the resolution. Only a
//       message that isn't a call of this tool gets a JSON-RPC error.
//   T2  The execution doesn't depend on its caller: disconnecting stops nothing, and the idempotency key finds the
//       execution again.

type Params = { name: string; arguments?: Record<string, unknown> | undefined }
type RpcRequest = Pick<ServerContext['mcpReq'], '_meta' | 'notify'>
type Needed = Parameters<typeof startExecution>[0] &
  Parameters<typeof awaitExecution>[0] &
  Pick<
    Deps,
    | 'ledger'
    | 'lookAtProgress'
    | 'followerLimiter'
    | 'assetStore'
    | 'imageMemory'
    | 'log'
    | 'metrics'
    | 'now'
    | 'refusals'
  >

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
    const input = inputOf(params.arguments ?? {}, request.sandbox.input)
    const run = () => withCallSpan(ROUTE, request.res, () => execute(deps, request, input, rpc), traceOf(request, rpc))
    const follows = rpc._meta?.progressToken !== undefined
    return await (follows
      ? asFollower(deps, { keyHash: request.caller.keyHash, project: request.sandbox.project }, run)
      : run())
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
  const idempotency = { key, fingerprint: invocationFingerprint({ input }) }
  const tag = readTag(request.req)
  const asked = { ...caller, tag, sandbox: sandbox.id, revision: null, surface: 'invoke', input, idempotency } as const
  const topicOf = rpc._meta?.progressToken === undefined ? endTopicOf : lineTopicOf
  const started = { requestId: request.requestId, disconnected }
  const execution = await withSpan('start', {}, () => startExecution(deps, asked, started, topicOf))
  try {
    if (!res.headersSent) setExecutionHeaders(res, execution)
    request.begun.resolve()
    const record = await withSpan('run', {}, () => endOf(deps, execution, disconnected, rpc))
    return await executionResult(deps, record, request)
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

/** Trace headers of the caller: from `_meta` of the message, or else from the HTTP headers. */
function traceOf({ req }: McpRequest, { _meta = {} }: RpcRequest): IncomingHttpHeaders {
  const { traceparent, tracestate, baggage } = _meta as Record<string, unknown>
  if (typeof traceparent !== 'string') return req.headers
  return {
    traceparent,
    ...(typeof tracestate === 'string' && { tracestate }),
    ...(typeof baggage === 'string' && { baggage }),
  }
}

/** For clients with a `fetch` option, as the MCP SDK, the AI SDK and the Agents SDK have. */
const FETCH_WITH_KEY =
  "(url, init) => fetch(url, { ...init, headers: new Headers([...new Headers(init?.headers), ['Idempotency-Key', crypto.randomUUID()]]) })"

function keyMissing(): Refusal {
  return new Refusal(
    'idempotency_key_required',
    'This call of the tool came without an Idempotency-Key header, so nothing was run.',
    `Send the HTTP header Idempotency-Key with each tools/call: 8 to 128 visible ASCII characters such as a UUID, new for each intended run and the same for its retries. Give a client with a fetch option this one: ${FETCH_WITH_KEY}. A client that cannot send a header per call starts the bridge instead: gateway mcp bridge.`,
  )
}

/**
 * Receives the lines of an execution like a stream, sends them as notifications, and keeps the record in the last line.
 */
export interface ProgressNotifier extends ResponseStream {
  /** Resolves once all notifications are sent: with the record, or null if the lines ended before the execution did. */
  ended(): Promise<ExecutionRecord | null>
}

type Notify = (notification: Notification) => Promise<void>

/** @param token the client's progress token. Progress values are those of `seq`, so they rise with each line. */
export function openProgressNotifier(token: string | number, notify: Notify): ProgressNotifier {
  let record: ExecutionRecord | null = null
  let sent = Promise.resolve()

  /** A failed notification is ignored: the client has disconnected, and the execution continues. */
  function send(progress: number, message: string): void {
    const params = { progressToken: token, progress, message }
    sent = sent.then(() => notify({ method: 'notifications/progress', params })).catch(() => {})
  }

  function take(lines: string): void {
    for (const text of lines.split('\n')) {
      if (text === '') continue
      const line = JSON.parse(text) as ProgressLine
      if (line.kind === 'admitted') send(line.seq, 'The execution has begun.')
      else if (line.kind === 'node') send(line.seq, `${line.node.id}: ${line.node.status}`)
      else record = line.execution // returned as the result
    }
  }

  return {
    open() {},
    isOpen: () => true,
    write(lines) {
      take(lines)
      return sent
    },
    end: take,
    async ended() {
      await sent
      return record
    },
  }
}

/** Returns an ended execution as a tool result. The same execution always gives the same result. */
export async function executionResult(
  deps: MediaNeeded,
  record: ExecutionRecord,
  { disconnected, res }: Pick<McpRequest, 'disconnected' | 'res'>,
): Promise<CallToolResult> {
  if (record.status !== 'Succeeded') return failedResult(record)
  // Null outputs are omitted: the output schema doesn't allow null.
  const supplied = Object.entries(record.output ?? {}).filter(([, value]) => value !== null)
  const output: Values = Object.fromEntries(supplied)
  const shares: (() => void)[] = []
  res.once('close', () => shares.forEach((giveBack) => giveBack()))
  const takeMemory = async (bytes: number) => {
    shares.push(await deps.imageMemory.take(record.project, bytes, disconnected))
  }
  const media = await mediaContent(mediaIn(output), (value, bytesLeft) =>
    blockOf(deps, value, record.project, bytesLeft, takeMemory),
  )
  return {
    content: [{ type: 'text', text: JSON.stringify(output) }, ...media],
    structuredContent: output,
    _meta: { service: serviceOf(record) },
  }
}

/** Returns a refusal as a tool result, with its code, message and resolution. */
export function refusedResult({ body }: Pick<Refusal, 'body'>): CallToolResult {
  return { isError: true, content: [{ type: 'text', text: JSON.stringify({ error: body }) }] }
}

function failedResult(record: ExecutionRecord): CallToolResult {
  const { id, error, chargedMicro } = record
  const facts: { error: RefusalBody | null; execution: string; chargedMicro: number } = {
    error,
    execution: id,
    chargedMicro,
  }
  return {
    isError: true,
    content: [{ type: 'text', text: JSON.stringify(facts) }],
    _meta: { service: serviceOf(record) },
  }
}

/** Same object as in a chat completion of a sandbox product (rules §3.9). */
function serviceOf({ id, project, revision, chargedMicro }: ExecutionRecord) {
  return { kind: 'sandbox', execution_id: id, project, revision, charged_micro: chargedMicro }
}

/**
 * Returns the values that look like images or audio. The contract isn't consulted: the execution may be of a revision
 * that is no longer active, and a repeat must give the same result. `mediaContent` verifies the values.
 */
function mediaIn(output: Values): AssetValue[] {
  return Object.values(output).filter(isMedia)
}

function isMedia(value: unknown): value is AssetValue {
  if (typeof value !== 'object' || value === null) return false
  const { asset, mimeType, bytes } = value as Partial<AssetValue>
  return typeof asset === 'string' && /^(image|audio)\//.test(String(mimeType)) && Number.isSafeInteger(bytes)
}

type MediaNeeded = Pick<Deps, 'ledger' | 'assetStore' | 'imageMemory'>

/** Media bytes per result, before base64: one asset of the largest size. Memory for them is taken like for a chat. */
const MAX_BYTES = flowLimits.assetBytes
const UNREADABLE_BY = [AssetMissing, AssetStoreUnavailable, LedgerUnavailable]

/**
 * Returns stored images and audio of a project as content blocks, in order: the bytes, or a text with their location if
 * they are too large or can't be read now. Assets that the project doesn't have are omitted.
 */
async function mediaContent(
  values: AssetValue[],
  read: (value: AssetValue, bytesLeft: number) => ReturnType<typeof blockOf>,
): Promise<ContentBlock[]> {
  const blocks: ContentBlock[] = []
  let bytesLeft = MAX_BYTES
  for (const value of values) {
    const block = await read(value, bytesLeft)
    if (block !== null) blocks.push(block.content)
    bytesLeft -= block?.bytes ?? 0
  }
  return blocks
}

async function blockOf(
  { ledger, assetStore }: MediaNeeded,
  value: AssetValue,
  project: string,
  bytesLeft: number,
  takeMemory: (bytes: number) => Promise<void>,
) {
  try {
    if (value.asset.length > MAX_ID_CHARACTERS) return null
    const answer = await ledger.readAsset({ caller: { project }, asset: value.asset })
    if ('refused' in answer) return null
    if (answer.asset.bytes > bytesLeft) return { content: whereabouts(answer.asset), bytes: 0 }
    await takeMemory(answer.asset.bytes)
    const bytes = await assetStore.readWhole(project, answer.asset.id)
    return { content: inlineBlock(answer.asset, bytes), bytes: bytes.length }
  } catch (error) {
    const isOverloaded = error instanceof Refusal && error.code === 'overloaded'
    if (!isOverloaded && !UNREADABLE_BY.some((failure) => error instanceof failure)) throw error
    return { content: whereabouts({ ...value, id: value.asset }), bytes: 0 }
  }
}

function inlineBlock({ mimeType }: Pick<RecordedAsset, 'mimeType'>, bytes: Buffer): ContentBlock {
  const data = bytes.toString('base64')
  return { type: mimeType.startsWith('image/') ? 'image' : 'audio', data, mimeType }
}

function whereabouts({ id, mimeType, bytes }: Pick<RecordedAsset, 'id' | 'mimeType' | 'bytes'>): ContentBlock {
  return {
    type: 'text',
    text: `The asset ${id} (${mimeType}, ${bytes} bytes) is not shown here. GET /v1/assets/${id} on the server of this tool answers its bytes, with the same Authorization header.`,
  }
}

/** An MCP request of a caller that is authorized for this sandbox product. */
export interface McpRequest {
  caller: CallerQuestion
  sandbox: ActiveSandbox
  requestId: Id<'req'>
  /** Aborts when the caller disconnects. */
  disconnected: AbortSignal
  req: IncomingMessage
  res: ServerResponse
  /** Resolved once the requested execution has started, or can no longer start. */
  begun: PromiseWithResolvers<void>
}

/** Wraps a request for the SDK to pass through. The SDK never sees the key, not even its hash. */
export function authOf(request: McpRequest): AuthInfo {
  return { token: '', clientId: request.sandbox.project, scopes: [], extra: { request } }
}

/** Returns the request passed to `authOf`. */
export function requestOf(auth: AuthInfo | undefined): McpRequest {
  const request = auth?.extra?.['request']
  if (request === undefined) throw new Error('an MCP request has no caller')
  return request as McpRequest
}
