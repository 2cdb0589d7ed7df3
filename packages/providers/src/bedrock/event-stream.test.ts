import { crc32 } from 'node:zlib'
import { expect, test } from 'vitest'
import { maxEventCharacters } from '../chat-port.ts'
import { UnfitAnswer } from '../untrusted.ts'
import { EventTooLarge } from '../wire-format.ts'
import { amazonEventStream } from './converse-wire.ts'

// Frames as in https://docs.aws.amazon.com/AmazonS3/latest/API/RESTSelectObjectAppendix.html, the same in all of AWS.

const u32 = (value: number) => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}
const header = (name: string, type: number, value: Buffer) =>
  Buffer.concat([Buffer.from([name.length]), Buffer.from(name), Buffer.from([type]), value])
const text = (name: string, value: string) =>
  header(name, 7, Buffer.concat([u32(value.length).subarray(2), Buffer.from(value)]))

function frame(headers: Buffer[], payload: string): Buffer {
  const head = Buffer.concat(headers)
  const prelude = Buffer.concat([u32(16 + head.length + Buffer.byteLength(payload)), u32(head.length)])
  const body = Buffer.concat([prelude, u32(crc32(prelude)), head, Buffer.from(payload)])
  return Buffer.concat([body, u32(crc32(body))])
}

function read(bytes: Buffer, slice = bytes.length): string[] {
  const events: string[] = []
  const stream = amazonEventStream.open((data) => events.push(data))
  for (let at = 0; at < bytes.length; at += slice) stream.feed(bytes.subarray(at, at + slice))
  return events
}

const said = frame(
  [header(':flag', 0, Buffer.alloc(0)), header(':at', 8, Buffer.alloc(8)), text(':event-type', 'contentBlockDelta')],
  '{"delta":{"text":"Grüße 🌊"}}',
)
const failed = frame(
  [text(':message-type', 'exception'), text(':exception-type', 'throttlingException')],
  '{"message":"slow down"}',
)

test('reads frames as named events, however their bytes are split', () => {
  const events = [
    '{"contentBlockDelta":{"delta":{"text":"Grüße 🌊"}}}',
    '{"throttlingException":{"message":"slow down"}}',
  ]
  for (const slice of [1, 2, 7, 64, 10_000]) expect(read(Buffer.concat([said, failed]), slice)).toEqual(events)
})

test('rejects a frame with any flipped bit', () => {
  for (let at = 0; at < said.length; at++) {
    const damaged = Buffer.from(said)
    damaged[at]! ^= 1
    expect(() => read(damaged)).toThrow(UnfitAnswer)
  }
})

test('rejects a frame without a name, with malformed headers, or too short for its headers', () => {
  expect(() => read(frame([], '{}'))).toThrow('a frame has no name')
  expect(() => read(frame([text(':event-type', 'a b')], '{}'))).toThrow('a frame has no name')
  expect(() => read(frame([Buffer.from([200, 1])], '{}'))).toThrow('the headers of a frame are wrong')
  expect(() => read(frame([header('x', 12, Buffer.alloc(4))], '{}'))).toThrow('the headers of a frame are wrong')
  const short = Buffer.concat([u32(20), u32(90)])
  expect(() => read(Buffer.concat([short, u32(crc32(short))]))).toThrow('a frame is too short')
})

test('rejects a frame that declares too large a size, before buffering it', () => {
  const prelude = Buffer.concat([u32(maxEventCharacters + 1), u32(0)])
  expect(() => read(Buffer.concat([prelude, u32(crc32(prelude))]))).toThrow(EventTooLarge)
})
