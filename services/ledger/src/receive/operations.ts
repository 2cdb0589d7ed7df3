import type { Express, RequestHandler } from 'express'
import { z } from 'zod'
import {
  type AnswerLine,
  channelLimits,
  channels,
  LEAVING,
  operationLine,
  type OperationLine,
} from '@gateway/ledger-protocol/channels'
import {
  ledgerOperations,
  type OperationName,
  operationNames,
  type OperationRow,
} from '@gateway/ledger-protocol/ledger-operations'
import type { ServiceName } from '@gateway/ledger-protocol/ledger-reads'
import type { RequestVerifier } from '@gateway/ledger-client/service-token'
import { internalAnswers } from '@gateway/service-kit/http/answers'
import type { Deps } from '../deps.ts'
import { operationHandlers } from '../operation-handlers.ts'
import { withOperationSpan } from '../spans.ts'
import { authorize, callerOf, mayNotCall, takeBody, USUAL_BODY_BYTES } from './authorize.ts'
import type { ChannelKind } from './channels.ts'

interface Answer {
  status: number
  answer: object
}

/** Carries out an operation for a service that may call it. Never rejects: a failure is an answer, too. */
export type CarryOut = (
  name: OperationName,
  request: unknown,
  service: ServiceName,
  traceparent: string | undefined,
) => Promise<Answer>

/** Answers an operation in the same way whether it came as an HTTP request or on a channel. */
export function openOperations(deps: Deps): CarryOut {
  const explain = internalAnswers({ service: 'ledger', failure: 'The books cannot be reached now.', log: deps.log })

  return (name, request, service, traceparent) => {
    const row: OperationRow = ledgerOperations[name]
    const run = () => carryOut(name, row, request, service)
    return row.span ? withOperationSpan(row.span, traceparent, run) : run()
  }

  async function carryOut(
    name: OperationName,
    { path, request: schema, forbids }: OperationRow,
    request: unknown,
    service: ServiceName,
  ): Promise<Answer> {
    try {
      const parsed = schema.safeParse(request)
      if (!parsed.success) return { status: 400, answer: { error: z.prettifyError(parsed.error) } }
      const forbidden = forbids?.(parsed.data, service) ?? null
      if (forbidden !== null) return { status: 403, answer: { error: forbidden } }
      return { status: 200, answer: await (operationHandlers[name] as Handler)(deps, parsed.data) }
    } catch (error) {
      const { status, body } = explain(error, { path })
      return { status, answer: body }
    }
  }
}

type Handler = (deps: Deps, request: unknown) => Promise<object>

/** Mounts each operation that comes as an HTTP request under its path, for the services that may call it. */
export function mountOperations(app: Express, carryOut: CarryOut, verify: RequestVerifier): void {
  for (const name of operationNames) {
    const row: OperationRow = ledgerOperations[name]
    if (row.wire !== 'request') continue
    app.post(row.path, authorize(verify, row), answerRequest(name, carryOut))
  }
}

function answerRequest(name: OperationName, carryOut: CarryOut): RequestHandler {
  return async (req, res) => {
    const request = parse(takeBody(res).toString())
    const { status, answer } = await carryOut(name, request, callerOf(res), req.headers['traceparent'] as string)
    res.status(status).json(answer)
  }
}

const channelOperations = new Map(
  operationNames.flatMap((name) => {
    const { path, wire }: OperationRow = ledgerOperations[name]
    return wire === 'channel' ? [[path, name] as const] : []
  }),
)

/** The channels of operations: each line is a request, and has its answer. */
export function operationsChannels(carryOut: CarryOut): ChannelKind {
  return {
    row: channels.operations,
    accepts: (open, more) => open + more <= channelLimits.operationsUnderWay,
    leaving: LEAVING,
    read(message, service) {
      const answers: (() => Promise<AnswerLine>)[] = []
      for (const text of message.split('\n')) {
        if (text === '') continue
        const value = parse(text) as Partial<OperationLine> | undefined
        const n = value?.n
        if (!Number.isInteger(n)) return `Line ${answers.length + 1} is not an object with an integer n.`
        const bytes = Buffer.byteLength(text)
        answers.push(() => lineOf(n!, answerLine(value, bytes, service)))
      }
      return answers
    },
  }

  /** @param bytes of its line */
  async function answerLine(value: unknown, bytes: number, service: ServiceName): Promise<Answer> {
    const line = operationLine.safeParse(value)
    if (!line.success) return { status: 400, answer: { error: z.prettifyError(line.error) } }
    const { path, request, trace } = line.data
    const name = channelOperations.get(path)
    if (name === undefined) return { status: 404, answer: { error: `There is no operation ${path} on this channel.` } }
    const { callers, bodyBytes = USUAL_BODY_BYTES }: OperationRow = ledgerOperations[name]
    if (!callers.includes(service)) return { status: 403, answer: { error: mayNotCall(service, path) } }
    if (bytes > bodyBytes + LINE_BYTES)
      return { status: 413, answer: { error: `A request of ${path} has at most ${bodyBytes} bytes.` } }
    return carryOut(name, request, service, trace)
  }
}

/** Of a line, around its request. */
const LINE_BYTES = 1_024

/** A separate function, so that the closure waiting for an answer does not retain its request, which may be large. */
async function lineOf(n: number, answering: Promise<Answer>): Promise<AnswerLine> {
  return { n, ...(await answering) }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
