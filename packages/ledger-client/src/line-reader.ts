const NEWLINE = 0x0a

/**
 * Cuts a stream of bytes into lines of text. Answers a function that takes a chunk and hands on each line it completes,
 * without its newline; a last line without one is never handed on, because it may be cut.
 * @throws RangeError from that function, for a line of more than `mostBytes`
 */
export function openLineReader(onLine: (line: string) => void, mostBytes: number): (chunk: Buffer) => void {
  let held: Buffer[] = []
  let heldBytes = 0

  return (chunk) => {
    const end = chunk.lastIndexOf(NEWLINE)
    if (end < 0) {
      heldBytes += chunk.length
      if (heldBytes > mostBytes) throw new RangeError(`a line is longer than ${mostBytes} bytes`)
      held.push(chunk)
      return
    }
    // Whole lines only are decoded, so no character is cut in two.
    const text =
      held.length === 0 ? chunk.toString('utf8', 0, end) : Buffer.concat([...held, chunk.subarray(0, end)]).toString()
    held = end + 1 < chunk.length ? [chunk.subarray(end + 1)] : []
    heldBytes = chunk.length - end - 1
    let start = 0
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', start)) {
      if (at > start) onLine(text.slice(start, at))
      start = at + 1
    }
    if (start < text.length) onLine(text.slice(start))
  }
}
