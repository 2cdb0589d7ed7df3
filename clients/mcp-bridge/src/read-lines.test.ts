import { expect, test } from 'vitest'
import { readLines } from './run-bridge.ts'

const call = {
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { arguments: { text: 'a\u2028b\u2029c\u0085d é' } },
}
const line = JSON.stringify(call)

const linesOf = (...parts: Uint8Array[]) => Array.fromAsync(readLines(ReadableStream.from(parts)))

test('a line ends only at a line feed, wherever its bytes are cut', async () => {
  const bytes = Buffer.from(`${line}\n`)
  for (let cut = 0; cut <= bytes.length; cut++)
    expect(await linesOf(bytes.subarray(0, cut), bytes.subarray(cut))).toEqual([line])
})

test('a carriage return before the line feed is dropped, and so are blank lines', async () => {
  expect(await linesOf(Buffer.from(`${line}\r\n\r\n \n${line}\n`))).toEqual([line, line])
})

test('the last line may lack its line feed', async () => {
  expect(await linesOf(Buffer.from(`${line}\n${line}`))).toEqual([line, line])
})
