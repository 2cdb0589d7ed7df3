import { z } from 'zod'
import { channels } from '@gateway/ledger-protocol/channels'
import { ledgerItem, type LedgerItem, type OutcomeLine } from '@gateway/ledger-protocol/ledger-items'
import type { Deps } from '../deps.ts'
import { withItemSpan } from '../spans.ts'
import type { ChannelKind } from './channels.ts'

const line = z.strictObject({
  n: z.int(),
  budgetMs: z.number().min(1).max(300_000),
  item: ledgerItem,
  trace: z.string().max(128).optional(),
})
type Line = z.infer<typeof line>

/** Decides the item of a line. Never rejects: an item that can't be decided has the outcome `undecided`. */
export type DecideItem = (line: Line) => Promise<OutcomeLine['outcome']>

export function openItemDecider({
  admissionBatcher,
  nodeBatcher,
  keyUses,
}: Pick<Deps, 'admissionBatcher' | 'nodeBatcher' | 'keyUses'>): DecideItem {
  return ({ budgetMs, item, trace: traceparent }) =>
    traceparent ? withItemSpan(item, traceparent, () => decide(item, budgetMs)) : decide(item, budgetMs)

  async function decide(item: LedgerItem, budgetMs: number): Promise<OutcomeLine['outcome']> {
    if (item.op === 'claim' || item.op === 'complete') {
      const outcome = await nodeBatcher.submit(item, budgetMs)
      const claimed = outcome.kind === 'completed' ? outcome.next : outcome
      if (claimed?.kind === 'claimed') admissionBatcher.introduceExecution(item.execution, claimed.project)
      return outcome
    }
    const outcome = await admissionBatcher.submit(item, budgetMs)
    if (item.op === 'admit' && outcome.kind === 'admitted') keyUses.note(outcome.key)
    return outcome as OutcomeLine['outcome']
  }
}

/** The channels of items: one exchange at a time, each line an item. */
export function itemsChannels(decide: DecideItem): ChannelKind {
  return {
    row: channels.items,
    accepts: (open) => open === 0,
    leaving: null,
    read(message) {
      const lines = readLines(message)
      return typeof lines === 'string' ? lines : lines.map((item) => () => outcomeOf(item.n, decide(item)))
    },
  }
}

/** A separate function, so that the closure waiting for an outcome does not retain its item, which may be large. */
async function outcomeOf(n: number, deciding: Promise<OutcomeLine['outcome']>): Promise<OutcomeLine> {
  return { n, outcome: await deciding }
}

/** Reads a message: NDJSON, an item per line. Returns what is wrong with it as a sentence. */
function readLines(text: string): Line[] | string {
  const lines: Line[] = []
  for (const row of text.split('\n')) {
    if (row === '') continue
    let value: unknown
    try {
      value = JSON.parse(row)
    } catch {
      return `Line ${lines.length + 1} is not JSON.`
    }
    const read = line.safeParse(value)
    if (!read.success) return `Line ${lines.length + 1}: ${z.prettifyError(read.error)}`
    lines.push(read.data)
  }
  return lines.length > 0 ? lines : 'Send at least one line.'
}
