import type { RequestHandler, Response } from 'express'
import { z } from 'zod'
import { ledgerItem } from '@gateway/contracts/ledger-items'
import type { OutcomeLine } from '@gateway/contracts/ledger-outcomes'
import type { Lanes } from '../batch/lanes.ts'
import { readBody } from './read-body.ts'

const line = z.strictObject({ n: z.int(), budgetMs: z.number().min(1).max(300_000), item: ledgerItem })

// 512 items, or one saved answer of 1 MB with its JSON escapes, and room for the rest.
const MOST_BYTES = 8 * 1024 * 1024

interface Needs {
  lanes: Lanes
  /** Told the key of each admitted call. */
  admitted: (key: string) => void
}

/** POST /items: NDJSON in, NDJSON out, each outcome as soon as it is decided, in any order. */
export function decideItems({ lanes, admitted }: Needs): RequestHandler {
  return async (req, res) => {
    const body = await readBody(req, MOST_BYTES)
    if (body === null) return void res.status(413).json({ error: `Send at most ${MOST_BYTES} bytes a request.` })
    const lines = readLines(body.toString())
    if (typeof lines === 'string') return void res.status(400).json({ error: lines })
    res.setHeader('Content-Type', 'application/x-ndjson')
    const write = gatheredWriter(res, lines.length)
    for (const { n, budgetMs, item } of lines) {
      void lanes.submit(item, budgetMs).then((outcome) => {
        if (outcome.kind === 'admitted') admitted(outcome.key)
        write({ n, outcome: outcome as OutcomeLine['outcome'] })
      })
    }
  }
}

function readLines(text: string): z.infer<typeof line>[] | string {
  const lines: z.infer<typeof line>[] = []
  for (const one of text.split('\n')) {
    if (one === '') continue
    let value: unknown
    try {
      value = JSON.parse(one)
    } catch {
      return `Line ${lines.length + 1} is not JSON.`
    }
    const read = line.safeParse(value)
    if (!read.success) return `Line ${lines.length + 1}: ${z.prettifyError(read.error)}`
    lines.push(read.data)
  }
  return lines.length > 0 ? lines : 'Send at least one line.'
}

/** A batch decides many items at once; their lines leave in one write. */
function gatheredWriter(res: Response, expected: number): (line: OutcomeLine) => void {
  let text = ''
  let left = expected
  return (outcome) => {
    if (text === '') {
      setImmediate(() => {
        if (left === 0) res.end(text)
        else res.write(text)
        text = ''
      })
    }
    left--
    text += JSON.stringify(outcome) + '\n'
  }
}
