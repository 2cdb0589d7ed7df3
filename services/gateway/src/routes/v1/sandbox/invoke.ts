import type { Request, RequestHandler, Response } from 'express'
import {
  lineTopicOf,
  refusedLine,
  sendImage,
  sendRecord,
  setExecutionHeaders,
  streamProgress,
} from '../../../executions/send-execution.ts'
import { acceptedAnswer, type AcceptedAnswer, readInvocation } from '../../../request/read-invocation.ts'
import { withSpan } from '@gateway/service-kit/process/spans'
import { callerOf } from '../../../admission/admission.ts'
import { asFollower, withPermit } from '../../../admission/limits.ts'
import type { Deps } from '../../../deps.ts'
import { explainError } from '../../../errors/explain-error.ts'
import { awaitExecution, endTopicOf } from '../../../executions/await-execution.ts'
import { startExecution, type Execution } from '../../../executions/start-execution.ts'
import { JSON_LINES, openResponseStream } from '../../../response/response-stream.ts'
import { withCallSpan } from '../../../tracing.ts'

type InvokeRequest = Request<{ id: string }>

const ROUTE = 'POST /v1/sandbox/{id}/invoke'

/** POST /v1/sandbox/{id}/invoke (flows §4.1, §4.4): read, start the execution, then follow it or wait for its end. */
export function invokeSandbox(deps: Deps): RequestHandler<{ id: string }> {
  return (req, res) => {
    deps.refusals.nameModel(res, req.params.id)
    return withPermit(deps, res, (keyHash, _permit, project) => {
      deps.admissionQueueLimit.refuseIfFull()
      const key = { keyHash, project }
      return deps.openCalls.run(() => withCallSpan(ROUTE, res, () => invoke(deps, req, res, key)))
    })
  }
}

async function invoke(
  deps: Deps,
  req: InvokeRequest,
  res: Response,
  key: { keyHash: string; project: string },
): Promise<void> {
  const accepted = acceptedAnswer(req)
  const run = () => runInvocation(deps, req, res, key.keyHash, accepted)
  return accepted === 'progress' ? asFollower(deps, key, run) : run()
}

async function runInvocation(
  deps: Deps,
  req: InvokeRequest,
  res: Response,
  keyHash: string,
  accepted: AcceptedAnswer,
): Promise<void> {
  const startMs = deps.now()
  const caller = callerOf(res)
  const invocation = await readInvocation(req, keyHash)
  const request = { ...invocation, sandbox: req.params.id, surface: 'invoke' } as const
  const topicOf = accepted === 'progress' ? lineTopicOf : endTopicOf
  const execution = await withSpan('start', {}, () => startExecution(deps, request, caller, topicOf))
  setExecutionHeaders(res, execution)
  try {
    await withSpan('run', {}, () => answer(deps, req, res, accepted, execution, caller.disconnected))
  } finally {
    execution.close()
  }
  deps.metrics.invoked(accepted, deps.now() - startMs)
}

async function answer(
  deps: Deps,
  req: InvokeRequest,
  res: Response,
  accepted: AcceptedAnswer,
  execution: Execution,
  disconnected: AbortSignal,
): Promise<void> {
  if (accepted === 'progress') {
    const stream = openResponseStream(res, { now: deps.now, kind: JSON_LINES })
    return streamProgress(deps, stream, execution, disconnected).catch((error: unknown) =>
      stream.end(refusedLine(explainError(deps, error, res))),
    )
  }
  const ended = await awaitExecution(deps, execution, disconnected)
  if (accepted === 'bytes' && (await sendImage(deps, req, res, ended))) return
  sendRecord(res, ended.record)
}
