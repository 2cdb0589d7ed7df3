import type { CompleteItem } from '@gateway/contracts/flow-items'
import { refuse } from '@gateway/contracts/refusal'
import type { LedgerClient } from '@gateway/ledger-client/ledger-client'
import { LedgerRejected } from '@gateway/ledger-client/ledger-failures'
import type { Logger } from '@gateway/process/logger'
import type { Performed } from '../perform/perform.ts'
import type { Work } from './run-node.ts'

/** How a node ended, as the ledger took it. */
export type Ended = CompleteItem['result']['kind'] | 'fenced'

export type CompleteNode = (work: Work, performed: Performed, durationMs: number) => Promise<Ended>

interface Deps {
  ledger: Pick<LedgerClient, 'complete'>
  log: Pick<Logger, 'error'>
}

/** The most that the ledger takes. */
const LONGEST_MS = 3_600_000

/** Records how a node ended, until the ledger has answered (N5). */
export function nodeCompleter({ ledger, log }: Deps): CompleteNode {
  return async ({ lease: { execution, node, lease } }, { result, usage, remoteMs }, durationMs) => {
    const times = { durationMs: whole(durationMs), remoteMs: remoteMs === null ? null : whole(remoteMs) }
    const item = { execution, node, lease, usage, ...times }
    try {
      return await record({ ...item, result })
    } catch (error) {
      if (!(error instanceof LedgerRejected)) throw error
      // A result that the ledger does not understand is a bug; the node must not stay ours for it.
      log.error({ err: error, execution, node }, 'the ledger did not take the result of a node')
      return record({
        ...item,
        result: { kind: 'failed', error: JSON.stringify(refuse('node_failed', { node }).body) },
      })
    }
  }

  async function record(item: Omit<CompleteItem, 'op'>): Promise<Ended> {
    const { kind } = await ledger.complete(item)
    return kind === 'fenced' ? 'fenced' : item.result.kind
  }
}

function whole(ms: number): number {
  return Math.min(Math.max(0, Math.round(ms)), LONGEST_MS)
}
