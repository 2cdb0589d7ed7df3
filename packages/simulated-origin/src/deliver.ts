import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises'
import type { Answer } from './answer-wire.ts'
import type { CallLog, LoggedCall } from './call-log.ts'
import type { FaultRule } from './fault-rule.ts'
import { errorBody, traceHeaders } from './origin-traces.ts'

export interface Delivery {
  res: ServerResponse
  log: CallLog
  call: LoggedCall
  /** Aborts when the connection is closed. */
  gone: AbortSignal
}

/** Sends an answer as it should be. */
export function deliver({ res, call }: Pick<Delivery, 'res' | 'call'>, answer: Answer): void {
  const headers = traceHeaders(call.id)
  if (answer.kind === 'body') {
    headers['content-type'] = answer.contentType
    headers['content-length'] = String(answer.bytes.length)
    res.writeHead(200, headers).end(answer.bytes)
    return
  }
  res.writeHead(200, { ...headers, ...eventHeaders })
  const events = answer.texts.map((text) => `data: ${text}\n\n`)
  res.end(`${openingComment}${events.join('')}data: [DONE]\n\n`)
  call.chunksSent = answer.texts.length
}

const eventHeaders = { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' }
const openingComment = ': simulated-origin processing\n\n'

/** Sends an answer the way the rule breaks it. Everything up to the first byte has been decided before. */
export async function deliverBroken(delivery: Delivery, answer: Answer, rule: FaultRule): Promise<void> {
  if (answer.kind === 'body') await deliverBody(delivery, answer, rule)
  else await deliverEvents(delivery, answer.texts, rule)
}

/** An answer that isn't a stream: its headers, then its first half, then the rest. */
async function deliverBody(
  delivery: Delivery,
  { contentType, bytes }: Answer & { kind: 'body' },
  rule: FaultRule,
): Promise<void> {
  const { res, call } = delivery
  const truncated = rule.cut === 'without-end-marker' || rule.garbage !== undefined
  const whole = truncated ? bytes.subarray(0, bytes.length / 2) : bytes
  const { oversizedBytes = 0 } = rule
  res.writeHead(200, {
    ...traceHeaders(call.id),
    'content-type': rule.contentType ?? contentType,
    'content-length': String(whole.length + oversizedBytes),
  })
  res.flushHeaders()
  for (const half of [whole.subarray(0, whole.length / 2), whole.subarray(whole.length / 2)]) {
    if (struck(delivery, rule, call.chunksSent)) return
    if (rule.perChunkMs) await delay(rule.perChunkMs, undefined, { signal: delivery.gone })
    res.write(half)
    call.chunksSent++
  }
  // JSON may end in blanks, so the answer is merely too long.
  await writeFiller(delivery, oversizedBytes, ' ')
  res.end()
}

async function deliverEvents(delivery: Delivery, texts: string[], rule: FaultRule): Promise<void> {
  const { res, call, gone } = delivery
  res.writeHead(200, {
    ...traceHeaders(call.id),
    ...eventHeaders,
    ...(rule.contentType === undefined ? {} : { 'content-type': rule.contentType }),
  })
  res.write(openingComment)
  for (const text of rule.cut === 'without-end-marker' ? contentOnly(texts) : texts) {
    if (rule.perChunkMs) await delay(rule.perChunkMs, undefined, { signal: gone })
    if (struck(delivery, rule, call.chunksSent)) return
    if (at(rule.garbage, call.chunksSent)) res.write('data: {"choices":[{"index":0,"delta":{"con\n\n')
    if (at(rule.errorEvent, call.chunksSent)) {
      res.end(`data: ${JSON.stringify(errorBody(500, call.id))}\n\n`)
      return
    }
    await writeEvent(delivery, `data: ${text}\n\n`, rule.sliceBytes)
    call.chunksSent++
    if (rule.oversizedBytes !== undefined && call.chunksSent === 1) {
      res.write('data: {"choices":[{"index":0,"finish_reason":null,"delta":{"content":"')
      await writeFiller(delivery, rule.oversizedBytes, 'x')
      res.write('"}}]}\n\n')
    }
  }
  if (struck(delivery, rule, call.chunksSent)) return
  const marked = rule.cut !== 'without-end-marker' && rule.cut !== 'without-done'
  res.end(marked ? 'data: [DONE]\n\n' : '')
}

async function writeEvent({ res, gone }: Delivery, event: string, sliceBytes: number | undefined): Promise<void> {
  const bytes = Buffer.from(event)
  const size = sliceBytes ?? bytes.length
  for (let start = 0; start < bytes.length; start += size) {
    if (!res.write(bytes.subarray(start, start + size))) await once(res, 'drain', { signal: gone })
    if (sliceBytes !== undefined) await turn()
  }
}

/** Whether a stall or a cut strikes after so many chunks; the cut is carried out. */
function struck({ res, log, call }: Delivery, rule: FaultRule, chunksSent: number): boolean {
  if (at(rule.cut, chunksSent)) {
    log.end(call, 'cut')
    // `end` first hands what was written to the socket; destroying alone would drop it.
    res.socket?.end(() => res.destroy())
    return true
  }
  return at(rule.stall, chunksSent)
}

function at(when: FaultRule['cut'], chunksSent: number): boolean {
  if (when === 'before-first-byte') return chunksSent === 0
  return typeof when === 'object' && when.afterChunk === chunksSent
}

/** A stream without the chunk that carries the finish reason and what follows it. */
function contentOnly(texts: string[]): string[] {
  return texts.filter((text) => text.includes('"finish_reason":null'))
}

async function writeFiller({ res, gone }: Delivery, bytes: number, character: string): Promise<void> {
  const slice = character.repeat(65_536)
  for (let left = bytes; left > 0; left -= slice.length) {
    if (!res.write(left < slice.length ? slice.slice(0, left) : slice)) await once(res, 'drain', { signal: gone })
  }
}
