import { setTimeout as delay } from 'node:timers/promises'
import { type BackOffLimits, backOffMs } from '@gateway/service-kit/async/waiting'
import type { AssetRecordAnswer, AssetRecordQuestion } from '@gateway/ledger-protocol/flow-reads'
import { LedgerRejected } from './call-operation.ts'
import type { LedgerClient } from './ledger-client.ts'

const BACK_OFF: BackOffLimits = { firstMs: 250, maxMs: 30_000 }
const MOST_TRIES = 120

interface Needed {
  ledger: Pick<LedgerClient, 'recordAsset'>
  assetStore: { remove(project: string, id: string): Promise<void> }
}

interface How {
  /** Asks at first; once by default. Rejects if there is no answer. */
  first?: (ask: () => Promise<AssetRecordAnswer>) => Promise<AssetRecordAnswer>
  /** Maximum duration of a question. Milliseconds. */
  budgetMs?: number
  /** Runs once if the ledger records it in the background. Must not reject. */
  onLate?: () => Promise<void>
}

/**
 * Records stored bytes as an asset. Refused bytes are removed. While it is unknown whether the ledger has recorded them
 * they stay, and it is asked again in the background, for about an hour or until this process ends: a record without
 * bytes would count and could not be read.
 * @throws the error of the first question
 */
export async function recordStored(
  { ledger, assetStore }: Needed,
  { project, ...question }: AssetRecordQuestion & { project: string },
  { first = (ask) => ask(), budgetMs, onLate = async () => {} }: How = {},
): Promise<AssetRecordAnswer> {
  let asked = false
  const ask = () => {
    asked = true
    return ledger.recordAsset(question, budgetMs === undefined ? undefined : { budgetMs })
  }
  const remove = () => assetStore.remove(project, question.id).catch(() => {})

  async function askLater(): Promise<void> {
    for (let failures = 1; failures <= MOST_TRIES; failures++) {
      await delay(backOffMs(failures, BACK_OFF), undefined, { ref: false })
      const answer = await ask().catch((error: unknown) => (error instanceof LedgerRejected ? error : null))
      if (answer !== null) return 'recorded' in answer ? onLate() : remove()
    }
  }

  let answer: AssetRecordAnswer
  try {
    answer = await first(ask)
  } catch (error) {
    if (asked && !(error instanceof LedgerRejected)) void askLater()
    else await remove()
    throw error
  }
  if ('refused' in answer) await remove()
  return answer
}
