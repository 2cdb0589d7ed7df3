import type { Request, RequestHandler, Response } from 'express'
import type { ChatWire } from '@gateway/api/wires/wire'
import { type Call, openReservation } from '../../provider-call/call-provider.ts'
import { sendReplay, respond } from '../../response/respond.ts'
import { withSpan } from '@gateway/service-kit/process/spans'
import { type AdmittedCall, type Caller, callerOf } from '../../admission/admission.ts'
import { admitCall } from '../../admission/admit-call.ts'
import type { Permit } from '@gateway/service-kit/http/caller-permits'
import { withPermit } from '../../admission/limits.ts'
import type { Deps } from '../../deps.ts'
import { chatWithSandbox } from '../../executions/chat-with-sandbox.ts'
import {
  isLargerThanText,
  makeRoomForBody,
  prepareAttachments,
  type CallAttachments,
} from '../../attachments/prepare-attachments.ts'
import { type Capture, openCapture } from '../../capture/open-capture.ts'
import { readChat, type ChatCall } from '../../request/read-chat.ts'
import { withCallSpan } from '../../tracing.ts'

/**
 * A chat call of one wire (rules §3): read, admit, call, settle, respond.
 * @param route method and path, such as `POST /v1/chat/completions`
 */
export function chatCall(deps: Deps, wire: ChatWire, route: string): RequestHandler {
  return (req, res) =>
    withPermit(deps, res, (keyHash, permit) => {
      deps.admissionQueueLimit.refuseIfFull()
      return deps.openCalls.run(() => withCallSpan(route, res, () => complete(deps, wire, req, res, keyHash, permit)))
    })
}

async function complete(
  deps: Deps,
  wire: ChatWire,
  req: Request,
  res: Response,
  keyHash: string,
  permit: Permit,
): Promise<void> {
  const { metrics, now } = deps
  const startMs = now()
  const caller = { ...callerOf(res), permit }
  if (isLargerThanText(req)) await makeRoomForBody(deps, req, keyHash, caller)
  const chat = await readChat(wire, req, keyHash)
  deps.refusals.nameModel(res, chat.request.model)
  if (namesSandbox(chat)) {
    await withSpan('run', {}, () => chatWithSandbox(deps, res, chat, caller))
    return metrics.answered('sandbox', now() - startMs)
  }
  const attachments = chat.request.attachments.length > 0 ? await prepareAttachments(deps, chat, caller) : null
  const admission = await withSpan('admit', {}, () => admitCall(deps, chat, caller, attachments?.attachmentError))
  res.setHeader('X-Service-Invocation', admission.invocation)
  if (admission.kind === 'replay') {
    await sendReplay(res, admission)
    return metrics.answered('replay', now() - startMs)
  }
  for (const [name, value] of Object.entries(admission.place.headers)) res.setHeader(name, value)
  const capture = openCapture(deps, keyHash, admission, chat.request)
  const call = callOf(chat, admission, attachments, capture, caller)
  await withSpan('call', {}, () => respond(deps, res, call))
  metrics.answered(call.request.stream ? 'stream' : 'json', now() - startMs, call.timing.providerMs)
}

/** Whether the model is a sandbox product (rules §4.4). */
function namesSandbox({ request }: ChatCall): boolean {
  return request.model.startsWith('sbx-')
}

function callOf(
  { request, wire, openAnswer, idempotency }: ChatCall,
  admitted: AdmittedCall,
  attachments: CallAttachments | null,
  capture: Capture | null,
  { disconnected }: Caller,
): Call {
  return {
    request,
    wire,
    openAnswer,
    admitted,
    attachments,
    disconnected,
    capture,
    reservation: openReservation(admitted, idempotency !== null),
    timing: { providerMs: 0 },
  }
}
