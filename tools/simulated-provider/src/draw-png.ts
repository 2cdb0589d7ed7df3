import { crc32, deflateSync } from 'node:zlib'
import { seeded } from './seeded.ts'

const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])

/**
 * Draws a valid PNG of that size: a pattern of four colors, the same for the same text.
 * @param bytes size of the whole file; an extra chunk that readers skip fills it up
 */
export function drawPng(text: string, width: number, height: number, bytes?: number): Buffer {
  const random = seeded(text)
  const palette = Buffer.from(Array.from({ length: 12 }, () => random.next(256)))
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  // Two bits per pixel, colors from the palette.
  header.set([2, 3, 0, 0, 0], 8)

  const bytesPerRow = Math.ceil(width / 4)
  const rows = Buffer.alloc((bytesPerRow + 1) * height)
  const bands = Array.from({ length: 16 }, () => random.next(256))
  for (let y = 0; y < height; y++) {
    const colours = bands[(y >> 4) & 15] as number
    // Each row starts with its filter type, 0.
    rows.fill(colours, y * (bytesPerRow + 1) + 1, (y + 1) * (bytesPerRow + 1))
  }
  const before = [signature, chunk('IHDR', header), chunk('PLTE', palette)]
  const after = [chunk('IDAT', deflateSync(rows, { level: 1 })), chunk('IEND', Buffer.alloc(0))]
  const missing = (bytes ?? 0) - Buffer.concat([...before, ...after]).length - EMPTY_CHUNK_BYTES
  const filler = bytes === undefined ? [] : [chunk('fiLl', noise(random, Math.max(0, missing)))]
  return Buffer.concat([...before, ...filler, ...after])
}

const EMPTY_CHUNK_BYTES = 12

/** Incompressible bytes. */
function noise(random: ReturnType<typeof seeded>, bytes: number): Buffer {
  const filled = Buffer.alloc(bytes)
  for (let at = 0; at + 4 <= bytes; at += 4) filled.writeUInt32LE(random.next(2 ** 32), at)
  return filled
}

function chunk(type: string, data: Buffer): Buffer {
  const typed = Buffer.concat([Buffer.from(type, 'ascii'), data])
  const length = Buffer.alloc(4)
  length.writeUInt32BE(data.length)
  const check = Buffer.alloc(4)
  check.writeUInt32BE(crc32(typed))
  return Buffer.concat([length, typed, check])
}
