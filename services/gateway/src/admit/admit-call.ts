import type { Id } from '@gateway/contracts/ids'
import type { AdmitItem } from '@gateway/contracts/ledger-items'
import type { Admitted, AdmitOutcome } from '@gateway/contracts/ledger-outcomes'
import type { Holder } from '@gateway/ledger-client/holder'
import type { LedgerClient } from '@gateway/ledger-client/ledger-client'
import { LedgerUnavailable } from '@gateway/ledger-client/ledger-failures'
import type { ReceivedChat } from '../receive/receive-chat.ts'
import { storable } from '../receive/selector.ts'
import { refusalOfOutcome } from '../refuse/refusal-of-outcome.ts'
import type { JoinRunning } from './join-running.ts'

/** What a call has come to: money is held for it, or it was answered before. */
export type Entrance = AdmittedCall | Replay

export interface AdmittedCall extends Admitted {
  /** Id of what is held for this attempt; of a first attempt it is the invocation's too. */
  reservation: string
}
export type Replay = Extract<AdmitOutcome, { kind: 'replay' }>
export type Running = Extract<AdmitOutcome, { kind: 'running' }>

export type AdmitCall = (chat: ReceivedChat, gone: AbortSignal) => Promise<Entrance>

interface Needs {
  ledger: Pick<LedgerClient, 'admit'>
  holder: Pick<Holder, 'id' | 'renew'>
  mint: (prefix: 'inv') => Id<'inv'>
  join: JoinRunning
}

/** How long the ledger may take to decide; past it nothing stays reserved and nothing was called. */
const ADMISSION_MS = 5_000

/**
 * Asks the ledger to admit a call: one question, in which everything is decided (architecture.md, "Chat"). While the first
 * call under the same idempotency key is running, this one joins it.
 * @throws Refusal as the ledger decided, or `idempotency_in_progress`
 * @throws LedgerUnavailable
 */
export function callAdmitter({ ledger, holder, mint, join }: Needs): AdmitCall {
  return async (chat, gone) => {
    const first = await ask(chat)
    return first.kind === 'running' ? join(first, () => ask(chat), gone) : first
  }

  async function ask(chat: ReceivedChat): Promise<Entrance | Running> {
    const item = itemOf(chat, mint('inv'), holder.id())
    let outcome = await ledger.admit(item, { budgetMs: ADMISSION_MS })
    if (outcome.kind === 'holder-unknown') {
      await holder.renew()
      outcome = await ledger.admit({ ...item, holder: holder.id() }, { budgetMs: ADMISSION_MS })
    }
    switch (outcome.kind) {
      case 'admitted':
        return { ...outcome, reservation: item.id }
      case 'replay':
      case 'running':
        return outcome
      case 'refused':
        throw refusalOfOutcome(outcome)
      case 'holder-unknown':
        throw new LedgerUnavailable({ why: 'unavailable' })
    }
  }
}

function itemOf(
  { keyHash, selector, request, idempotency }: ReceivedChat,
  id: string,
  holder: string,
): Omit<AdmitItem, 'op'> {
  return {
    id,
    holder,
    keyHash,
    selector,
    model: storable(request.model),
    parameters: request.conditional,
    measures: { ...request.measures, counted: null, maxTokens: request.maxTokens },
    idempotency,
  }
}
