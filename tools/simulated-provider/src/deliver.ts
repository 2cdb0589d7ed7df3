import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises'
import type { Answer } from './answer-wire.ts'
import type { CallLog, LoggedCall } from './call-log.ts'
import type { Dialect } from './dialect.ts'
import type { FaultRule } from './fault-rule.ts'

export interface Delivery {
  res: ServerResponse
  log: CallLog
  call: LoggedCall
  dialect: Dialect
  /** Aborts when the connection closes. */
  disconnected: AbortSignal
}

/** Sends a response without faults. */
export function deliver({ res, call, dialect }: Omit<Delivery, 'disconnected'>, answer: Answer): void {
  const headers = dialect.headers(call.id)
  if (answer.kind === 'body') {
    headers['content-type'] = answer.contentType
    headers['content-length'] = String(answer.bytes.length)
    res.writeHead(200, headers).end(answer.bytes)
    return
  }
  const { content, ending, marker } = answer
  res.writeHead(200, { ...headers, ...eventHeaders(dialect) })
  const { frame } = dialect
  if (frame) res.end(Buffer.concat([...content, ...ending].map(frame)))
  else res.end(`${dialect.opening}${content.join('')}${ending.join('')}${marker}`)
  call.chunksSent = content.length + ending.length
}

function eventHeaders({ streamType = 'text/event-stream; charset=utf-8' }: Dialect): Record<string, string> {
  return { 'content-type': streamType, 'cache-control': 'no-cache' }
}

/** Sends a response with the faults of a rule. Faults before the first byte have been applied already. */
export async function deliverBroken(delivery: Delivery, answer: Answer, rule: FaultRule): Promise<void> {
  if (answer.kind === 'body') await deliverBody(delivery, answer, rule)
  else await deliverEvents(delivery, answer, rule)
}

/** A response that isn't a stream: its headers, its first half, then the rest. */
async function deliverBody(
  delivery: Delivery,
  { contentType, bytes }: Answer & { kind: 'body' },
  rule: FaultRule,
): Promise<void> {
  const { res, call, dialect } = delivery
  const truncated = rule.cut === 'without-end-marker' || rule.garbage !== undefined
  const whole = truncated ? bytes.subarray(0, bytes.length / 2) : bytes
  const { oversizedBytes = 0 } = rule
  const inTwo = { cut: withinTwo(rule.cut), stall: withinTwo(rule.stall) }
  res.writeHead(200, {
    ...dialect.headers(call.id),
    'content-type': rule.contentType ?? contentType,
    'content-length': String(whole.length + oversizedBytes),
  })
  res.flushHeaders()
  for (const half of [whole.subarray(0, whole.length / 2), whole.subarray(whole.length / 2)]) {
    if (struck(delivery, inTwo, call.chunksSent)) return
    if (rule.perChunkMs) await delay(rule.perChunkMs, undefined, { signal: delivery.disconnected })
    res.write(half)
    call.chunksSent++
  }
  // JSON may have trailing spaces, so the response is only too long.
  await writeFiller(delivery, oversizedBytes, ' ')
  res.end()
}

async function deliverEvents(
  delivery: Delivery,
  { content, ending, marker }: Answer & { kind: 'events' },
  rule: FaultRule,
): Promise<void> {
  const { res, call, dialect, disconnected } = delivery
  res.writeHead(200, {
    ...dialect.headers(call.id),
    ...eventHeaders(dialect),
    ...(rule.contentType === undefined ? {} : { 'content-type': rule.contentType }),
  })
  res.flushHeaders()
  if (dialect.opening !== '') res.write(dialect.opening)
  const endless = rule.cut === 'without-end-marker'
  for (const event of endless ? content : [...content, ...ending]) {
    if (rule.perChunkMs) await delay(rule.perChunkMs, undefined, { signal: disconnected })
    if (struck(delivery, rule, call.chunksSent)) return
    if (at(rule.garbage, call.chunksSent)) res.write(dialect.garbage)
    if (at(rule.errorEvent, call.chunksSent)) {
      res.end(framed(dialect, dialect.errorEvent(call.id)))
      return
    }
    await writeEvent(delivery, framed(dialect, event), rule.sliceBytes)
    call.chunksSent++
    if (rule.oversizedBytes !== undefined && call.chunksSent === 1) {
      const [before, after] = dialect.aroundFiller(rule.oversizedBytes)
      res.write(before)
      await writeFiller(delivery, rule.oversizedBytes, 'x')
      res.write(after)
    }
  }
  if (struck(delivery, rule, call.chunksSent)) return
  res.end(endless || rule.cut === 'without-done' ? '' : marker)
}

function framed({ frame }: Dialect, event: string): Buffer {
  return frame ? frame(event) : Buffer.from(event)
}

async function writeEvent(
  { res, disconnected }: Delivery,
  bytes: Buffer,
  sliceBytes: number | undefined,
): Promise<void> {
  const size = sliceBytes ?? bytes.length
  for (let start = 0; start < bytes.length; start += size) {
    if (!res.write(bytes.subarray(start, start + size))) await once(res, 'drain', { signal: disconnected })
    if (sliceBytes !== undefined) await turn()
  }
}

/** Whether a stall or a cut applies after this many chunks; performs the cut. */
function struck(
  { res, log, call }: Delivery,
  rule: { cut?: FaultRule['cut']; stall?: FaultRule['cut'] },
  chunksSent: number,
): boolean {
  if (at(rule.cut, chunksSent)) {
    log.end(call, 'cut')
    // `end` flushes the written data to the socket first; destroying it alone would drop the data.
    res.socket?.end(() => res.destroy())
    return true
  }
  return at(rule.stall, chunksSent)
}

/** A body that isn't a stream has two chunks: later faults apply after the first of them. */
function withinTwo(when: FaultRule['cut']): FaultRule['cut'] {
  return typeof when === 'object' ? { afterChunk: Math.min(when.afterChunk, 1) } : when
}

function at(when: FaultRule['cut'], chunksSent: number): boolean {
  if (when === 'before-first-byte') return chunksSent === 0
  return typeof when === 'object' && when.afterChunk === chunksSent
}

async function writeFiller({ res, disconnected }: Delivery, bytes: number, character: string): Promise<void> {
  const slice = character.repeat(65_536)
  for (let left = bytes; left > 0; left -= slice.length) {
    if (!res.write(left < slice.length ? slice.slice(0, left) : slice))
      await once(res, 'drain', { signal: disconnected })
  }
}
