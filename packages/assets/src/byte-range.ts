/** Which bytes are asked for; the first and the last, counted from 0. */
export type Range = { kind: 'whole' } | { kind: 'part'; first: number; last: number } | { kind: 'unsatisfiable' }

const WHOLE: Range = { kind: 'whole' }
const ONE_RANGE = /^bytes=[ \t]*(\d*)-(\d*)[ \t]*$/i

/**
 * Reads a Range header (RFC 9110, 14) for a file of `bytes`. One that can't be read, or asks for several parts, is as
 * good as none: the whole is then sent, which any client takes.
 */
export function byteRange(header: string | undefined, bytes: number): Range {
  const [, from = '', to = ''] = ONE_RANGE.exec(header ?? '') ?? []
  if (from === '' && to === '') return WHOLE
  if (from === '') return lastBytes(Number(to), bytes)
  const [first, last] = [Number(from), to === '' ? Infinity : Number(to)]
  if (first > last) return WHOLE
  if (first >= bytes) return { kind: 'unsatisfiable' }
  return { kind: 'part', first, last: Math.min(last, bytes - 1) }
}

function lastBytes(count: number, bytes: number): Range {
  if (count === 0) return { kind: 'unsatisfiable' }
  return { kind: 'part', first: Math.max(0, bytes - count), last: bytes - 1 }
}
