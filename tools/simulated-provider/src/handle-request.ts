import { hash } from 'node:crypto'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { endpointAt, type Endpoint, type WireRequest } from './answer-wire.ts'
import { chatDialect } from './chat-dialect.ts'
import { answerControl, type ControlDeps, type ProviderControl } from './control.ts'
import { deliver, deliverBroken, type Delivery } from './deliver.ts'
import type { FaultRule } from './fault-rule.ts'
import type { HeldCalls } from './held-calls.ts'
import { logCall } from './call-log.ts'
import { traceHeaders } from './provider-traces.ts'
import { readBody } from './read-body.ts'

interface Deps extends ControlDeps {
  control: ProviderControl
}

/** The complete HTTP interface of the simulated provider. */
export function providerHandler({ log, faults, heldCalls, control }: Deps): RequestListener {
  return (req, res) => {
    void answerRequest(req, res).catch(() => res.destroy())
  }

  async function answerRequest(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const path = req.url ?? '/'
    const endpoint = endpointAt(path)
    if (endpoint && req.method === 'POST') {
      const { read, dialect } = endpoint
      const body = await readBody(req)
      const request = parse(body, read)
      if (request instanceof Error) return sendJson(res, 400, dialect.wrongRequest(request.message))
      const call = logCall(log, path, req, body, request)
      res.once('close', () => log.end(call, res.writableFinished ? 'finished' : 'aborted'))
      const rule = faults.take(request.model, request.prompt)
      const delivery = { res, log, call, dialect }
      if (rule) await answerBroken(delivery, heldCalls, request, rule)
      else deliver(delivery, request.answer(null))
    } else if (path.startsWith('/control/')) {
      await answerControl(control, new URL(path, 'http://provider'), req, res)
    } else if (path === '/health/ready') sendJson(res, 200, { status: 'ready' })
    else if (path === '/v1/models') sendJson(res, 200, modelList)
    else sendJson(res, 404, chatDialect.wrongRequest(`there is no ${req.method} ${path}`))
  }
}

async function answerBroken(
  wanted: Omit<Delivery, 'disconnected'>,
  heldCalls: HeldCalls,
  request: WireRequest,
  rule: FaultRule,
): Promise<void> {
  const { res, log, call } = wanted
  const closed = new AbortController()
  res.once('close', () => closed.abort())
  const delivery: Delivery = { ...wanted, disconnected: closed.signal }
  try {
    if (rule.hold) await heldCalls.hold(closed.signal)
    if (rule.latencyMs) await delay(rule.latencyMs, undefined, { signal: closed.signal })
    if (closed.signal.aborted || rule.stall === 'before-first-byte') return
    if (rule.cut === 'before-first-byte') {
      log.end(call, 'cut')
      res.destroy()
    } else if (rule.status !== undefined) refuseByRule(delivery, rule, rule.status)
    else await deliverBroken(delivery, request.answer(rule), rule)
  } catch (error) {
    if (!closed.signal.aborted) throw error
  }
}

function refuseByRule({ res, call, dialect }: Delivery, rule: FaultRule, status: number): void {
  const body = rule.body ?? dialect.errorBody(status, call.id)
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const headers: Record<string, string> = {
    ...dialect.headers(call.id),
    ...(rule.body === undefined && dialect.errorHeaders?.(status)),
    ...rule.headers,
  }
  headers['content-type'] ??= rule.contentType ?? 'application/json'
  if (rule.retryAfter !== undefined) headers['retry-after'] = String(rule.retryAfter)
  res.writeHead(status, headers).end(text)
}

function parse(body: Buffer, read: Endpoint['read']): WireRequest | Error {
  try {
    const fields: unknown = JSON.parse(body.toString())
    if (fields === null || typeof fields !== 'object') return new Error('the body must be a JSON object')
    return read(fields as Record<string, unknown>)
  } catch (error) {
    return error as Error
  }
}

function sendJson(res: ServerResponse, status: number, body: object): void {
  const headers = traceHeaders(hash('sha256', String(status)).slice(0, 8))
  res.writeHead(status, { ...headers, 'content-type': 'application/json' }).end(JSON.stringify(body))
}

const modelList = {
  object: 'list',
  data: ['sim-swift', 'sim-deep', 'sim-think', 'sim-image', 'sim-voice', 'sim-embed'].map((id) => ({
    id,
    object: 'model',
    created: 1_770_000_000,
    owned_by: 'simulated-org',
  })),
}
