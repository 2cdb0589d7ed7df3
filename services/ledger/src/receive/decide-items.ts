import type { RequestHandler, Response } from 'express'
import { z } from 'zod'
import type { ClaimItem, ClaimOutcome, CompleteItem, CompleteOutcome } from '@gateway/contracts/flow-items'
import { itemsEndpoint, ledgerItem, type LedgerItem, type OutcomeLine } from '@gateway/contracts/ledger-items'
import type { Undecided } from '@gateway/contracts/ledger-outcomes'
import type { AdmissionBatcher } from '../batch/admission-batcher.ts'
import type { LedgerTrace } from '../trace.ts'
import { readBody } from './read-body.ts'

const line = z.strictObject({
  n: z.int(),
  budgetMs: z.number().min(1).max(300_000),
  item: ledgerItem,
  trace: z.string().max(128).optional(),
})

/** Where nodes are claimed and completed. `submit` never rejects, like that of the admission batcher. */
export interface NodeBatcher {
  submit(item: ClaimItem | CompleteItem, budgetMs: number): Promise<ClaimOutcome | CompleteOutcome | Undecided>
}

interface Deps {
  admissionBatcher: AdmissionBatcher
  flows: NodeBatcher
  /** Notes that a key was used, for each direct call that is admitted. */
  noteUse: (key: string) => void
  trace?: Pick<LedgerTrace, 'item'> | undefined
}

/** POST /items: NDJSON in, NDJSON out, each outcome as soon as it is decided, in any order. */
export function decideItems({ admissionBatcher, flows, noteUse, trace }: Deps): RequestHandler {
  return async (req, res) => {
    const { bodyBytes } = itemsEndpoint
    const body = await readBody(req, bodyBytes)
    if (body === null) return void res.status(413).json({ error: `Send at most ${bodyBytes} bytes a request.` })
    const lines = readLines(body.toString())
    if (typeof lines === 'string') return void res.status(400).json({ error: lines })
    res.setHeader('Content-Type', 'application/x-ndjson')
    const write = gatheredWriter(res, lines.length)
    for (const { n, budgetMs, item, trace: traceparent } of lines) {
      const deciding =
        trace && traceparent ? trace.item(item, traceparent, () => decide(item, budgetMs)) : decide(item, budgetMs)
      void deciding.then((outcome) => write({ n, outcome }))
    }
  }

  async function decide(item: LedgerItem, budgetMs: number): Promise<OutcomeLine['outcome']> {
    if (item.op === 'complete') return flows.submit(item, budgetMs)
    if (item.op === 'claim') {
      const outcome = await flows.submit(item, budgetMs)
      if (outcome.kind === 'claimed') admissionBatcher.introduceExecution(item.execution, outcome.project)
      return outcome
    }
    const outcome = await admissionBatcher.submit(item, budgetMs)
    if (item.op === 'admit' && outcome.kind === 'admitted') noteUse(outcome.key)
    return outcome as OutcomeLine['outcome']
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

/**
 * A batch decides many items at once; their lines leave in few writes. A saved answer may have 1 MB, and many repeats share
 * one, so lines are made only as fast as the caller reads.
 */
function gatheredWriter(res: Response, expected: number): (line: OutcomeLine) => void {
  const ready: OutcomeLine[] = []
  let left = expected
  let writing = false

  async function write(): Promise<void> {
    while (ready.length > 0 && !res.destroyed) {
      let text = ''
      let taken = 0
      while (taken < ready.length && text.length < WRITE_CHARACTERS) text += JSON.stringify(ready[taken++]) + '\n'
      ready.splice(0, taken)
      if (left === 0 && ready.length === 0) return void res.end(text)
      if (!res.write(text)) await drained(res)
    }
    writing = false
  }

  return (line) => {
    left--
    ready.push(line)
    if (writing) return
    writing = true
    setImmediate(() => void write().catch(() => res.destroy()))
  }
}

/** Resolves when the caller has read, or is gone. */
function drained(res: Response): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      res.off('drain', done).off('close', done)
      resolve()
    }
    res.on('drain', done).on('close', done)
  })
}

const WRITE_CHARACTERS = 1024 * 1024
