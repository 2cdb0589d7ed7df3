import { crc32 } from 'node:zlib'

/** One frame of an event stream: headers and payload with their checksums. */
export function frame(headers: Record<string, string>, payload: string): Buffer {
  const body = Buffer.concat([beforePayload(headers, Buffer.byteLength(payload)), Buffer.from(payload)])
  return Buffer.concat([body, sumOf(body)])
}

/** The bytes before a payload of this size. */
export function beforePayload(headers: Record<string, string>, payloadBytes: number): Buffer {
  const head = Buffer.concat(Object.entries(headers).map(([name, value]) => headerOf(name, value)))
  const prelude = Buffer.alloc(8)
  prelude.writeUInt32BE(12 + head.length + payloadBytes + 4, 0)
  prelude.writeUInt32BE(head.length, 4)
  return Buffer.concat([prelude, sumOf(prelude), head])
}

function headerOf(name: string, value: string): Buffer {
  const length = Buffer.alloc(2)
  length.writeUInt16BE(Buffer.byteLength(value))
  return Buffer.concat([Buffer.from([name.length]), Buffer.from(name), Buffer.from([7]), length, Buffer.from(value)])
}

function sumOf(bytes: Buffer): Buffer {
  const sum = Buffer.alloc(4)
  sum.writeUInt32BE(crc32(bytes))
  return sum
}
