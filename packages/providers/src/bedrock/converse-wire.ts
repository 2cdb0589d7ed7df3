import type { ReadError } from '../error-facts.ts'
import { throwErrorInside } from '../openai-compatible/read-chat.ts'
import { openConverseEvents, rebuildConverse } from './read-converse.ts'
import type { ProviderConfig } from '../provider-config.ts'
import { reasoningSeal } from '../openai-responses/reasoning-item.ts'
import { type WireFormat, EventTooLarge, type Framing, NotReady, type WireRequest } from '../wire-format.ts'
import { writeConverse } from './write-converse.ts'
import { crc32 } from 'node:zlib'
import { maxEventCharacters } from '../chat-port.ts'
import { UnfitAnswer } from '../untrusted.ts'
import {
  BedrockRuntimeClient,
  ConverseCommand,
  ConverseStreamCommand,
  type ConverseCommandInput,
} from '@aws-sdk/client-bedrock-runtime'

/** Amazon Bedrock's Converse and ConverseStream, the same format for all of its models. */
export function converseWire(config: Extract<ProviderConfig, { kind: 'bedrock' }>): WireFormat {
  const seal = reasoningSeal(config)
  const sign = requestSigner(config)
  return {
    request: async (call) => sign(writeConverse(call, seal), call.stream),
    readCompletion(body) {
      throwErrorInside(body)
      return rebuildConverse(body, seal)
    },
    framing: amazonEventStream,
    openEvents: () => openConverseEvents(seal),
    readError,
  }
}

/** The code is in a header, such as `ThrottlingException:http://…`. */
const readError: ReadError = (status, headers, _body) => {
  const [, code] = /^([A-Za-z]{1,64})(?:$|:)/.exec(String(headers['x-amzn-errortype'] ?? '')) ?? []
  return { status, code }
}

// Frames of `application/vnd.amazon.eventstream`: total length, header length, a checksum of both, headers, payload,
// and a checksum of everything before it. Handwritten, because the SDK's reader accepts frames of any length and is
// pull-based, while readStream (read-stream.ts) must be able to pause and leave.
//   F1  A frame is complete with correct checksums, or the stream is rejected.
//   F2  Nothing is buffered for a frame that declares too large a size.

const preludeBytes = 12
const sumBytes = 4
const textHeader = 7
/** Byte length of a header value by its type; null if a two-byte length precedes it. */
const valueBytes = [0, 0, 1, 2, 4, 8, null, null, 8, 16]

/** Yields each event as JSON: an object with the payload under the name of the event or exception. */
export const amazonEventStream: Framing = {
  contentType: 'application/vnd.amazon.eventstream',
  open(take) {
    let rest: Buffer = Buffer.alloc(0)
    return {
      feed(bytes) {
        rest = rest.length === 0 ? bytes : Buffer.concat([rest, bytes])
        while (rest.length >= preludeBytes) {
          const length = frameLength(rest)
          if (rest.length < length) return
          take(eventOf(rest.subarray(0, length)))
          rest = rest.subarray(length)
        }
      },
    }
  },
}

function frameLength(bytes: Buffer): number {
  if (crc32(bytes.subarray(0, 8)) !== bytes.readUInt32BE(8)) throw new UnfitAnswer('a frame begins wrongly') // F1
  const length = bytes.readUInt32BE(0)
  if (length > maxEventCharacters) throw new EventTooLarge() // F2
  if (length < preludeBytes + bytes.readUInt32BE(4) + sumBytes) throw new UnfitAnswer('a frame is too short')
  return length
}

function eventOf(frame: Buffer): string {
  const end = frame.length - sumBytes
  if (crc32(frame.subarray(0, end)) !== frame.readUInt32BE(end)) throw new UnfitAnswer('a frame is damaged') // F1
  const payloadFrom = preludeBytes + frame.readUInt32BE(4)
  const headers = headersOf(frame.subarray(preludeBytes, payloadFrom))
  const name = headers.get(':exception-type') ?? headers.get(':error-code') ?? headers.get(':event-type') ?? ''
  if (!/^[A-Za-z]{1,64}$/.test(name)) throw new UnfitAnswer('a frame has no name')
  const payload = frame.toString('utf8', payloadFrom, end)
  return `{"${name}":${payload === '' ? '{}' : payload}}`
}

/** Returns the headers with a string value. */
function headersOf(bytes: Buffer): Map<string, string> {
  const headers = new Map<string, string>()
  try {
    for (let at = 0; at < bytes.length;) {
      const nameEnd = at + 1 + bytes.readUInt8(at)
      const name = bytes.toString('utf8', at + 1, nameEnd)
      const type = bytes.readUInt8(nameEnd)
      const fixed = valueBytes[type]
      if (fixed === undefined) throw new RangeError()
      const from = nameEnd + 1 + (fixed === null ? 2 : 0)
      at = from + (fixed ?? bytes.readUInt16BE(nameEnd + 1))
      if (type === textHeader) headers.set(name, bytes.toString('utf8', from, at))
    }
  } catch {
    throw new UnfitAnswer('the headers of a frame are wrong')
  }
  return headers
}

type Config = Pick<Extract<ProviderConfig, { kind: 'bedrock' }>, 'apiKey' | 'baseUrl' | 'region'>

/**
 * Builds requests with the AWS SDK, which serializes, addresses and signs them, and stops it before it sends.
 * Connections, timeouts, retries and response reading are shared by all providers (exchange.ts); the SDK would use its
 * own.
 */
export function requestSigner({ apiKey, baseUrl, region }: Config) {
  const endpoint = baseUrl.replace(/\/$/, '')
  const client = new BedrockRuntimeClient({
    region,
    endpoint,
    maxAttempts: 1,
    // The protocol determines which headers are signed.
    requestHandler: { metadata: { handlerProtocol: 'http/1.1' }, handle: neverSends },
    ...(apiKey !== undefined && { token: { token: apiKey }, authSchemePreference: ['httpBearerAuth'] }),
  })
  const basePath = new URL(endpoint).pathname.replace(/\/$/, '')

  return async function sign(input: ConverseCommandInput, stream: boolean): Promise<WireRequest> {
    const signed: SignedRequest[] = []
    const stopBeforeSending = () => async (args: { request: unknown }) => {
      signed.push(args.request as SignedRequest)
      return { response: {}, output: { $metadata: {} } as never }
    }
    const place = { step: 'deserialize', priority: 'high', name: 'stopBeforeSending' } as const
    try {
      if (stream) {
        const command = new ConverseStreamCommand(input)
        command.middlewareStack.add(stopBeforeSending, place)
        await client.send(command)
      } else {
        const command = new ConverseCommand(input)
        command.middlewareStack.add(stopBeforeSending, place)
        await client.send(command)
      }
    } catch (error) {
      // The SDK's message may name files and accounts.
      throw new NotReady(`the request can't be signed: ${error instanceof Error ? error.name : 'unknown'}`)
    }
    const { path, headers, body } = signed[0]!
    return { path: path.slice(basePath.length), headers: headersToSend(headers), body: textOf(body) }
  }
}

function neverSends(): Promise<never> {
  return Promise.reject(new Error('the gateway sends the requests of the SDK'))
}

interface SignedRequest {
  path: string
  headers: Record<string, string>
  body: string | Uint8Array
}

/** Headers that every request or HTTP itself writes, with the same values that were signed. */
const writtenAnyway = new Set(['content-type', 'content-length', 'host', 'user-agent'])

function headersToSend(headers: Record<string, string>): string[] {
  return Object.entries(headers).flatMap(([name, value]) =>
    writtenAnyway.has(name.toLowerCase()) ? [] : [name, value],
  )
}

function textOf(body: string | Uint8Array): string {
  return typeof body === 'string' ? body : new TextDecoder().decode(body)
}
