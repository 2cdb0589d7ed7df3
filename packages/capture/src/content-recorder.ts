import type { LedgerClient } from '@gateway/ledger-client/ledger-client'
import { type CapturedCalls, capturedContentLimits } from '@gateway/ledger-protocol/captured-content'
import { openItemBatcher } from '@gateway/service-kit/async/batcher'
import { openWorkerThread } from '@gateway/service-kit/async/worker-thread'
import type { CallContent } from './content-keys.ts'

export type { CallContent } from './content-keys.ts'

// Captures the content of calls after they have ended (rules §7.11).
//   R1  It never delays or fails a call: redacting and sealing is done in a thread, and nothing waits for it.
//   R2  It is bounded: content that does not fit is dropped and counted, as is what the ledger does not accept in time.
//   R3  Only sealed content leaves the thread. It is in no log and no trace.

export interface ContentRecorder {
  record(call: CallContent): void
  /** Sends the rest. */
  stop(): Promise<void>
}

interface Options {
  ledger: Pick<LedgerClient, 'recordContent'>
  /** Called with the number of calls whose content is lost (R2). */
  onDropped: (calls: number) => void
  onTrouble: (reason: unknown) => void
}

type SealedCall = CapturedCalls['calls'][number]

/** Of the requests and answers, as JSON, that are not sent yet. */
const MAX_CHARACTERS = 32 * 1024 * 1024
const MAX_MEGABYTES = 256
const SEAL_MS = 30_000
const RECORD_MS = 10_000
/** So that a batch of the largest ones fits into a request. */
const MAX_IN_BATCH = 3

export function openContentRecorder({ ledger, onDropped, onTrouble }: Options): ContentRecorder {
  const program = new URL('./sealing-thread-main.ts', import.meta.url)
  const thread = openWorkerThread<CallContent, string>({
    program,
    limitMs: SEAL_MS,
    maxMegabytes: MAX_MEGABYTES,
    onTrouble,
  })
  let characters = 0
  // The thread has the next call when it is done with one. The others wait here, where no limit of time runs.
  const sealing = openItemBatcher<CallContent>({ maxItems: 1, run: ([call]) => seal(call!), concurrency: 2 })
  const sending = openItemBatcher<SealedCall>({ maxItems: MAX_IN_BATCH, run: send, concurrency: 2 })

  async function send(calls: SealedCall[]): Promise<void> {
    await ledger.recordContent({ calls }, { budgetMs: RECORD_MS }).catch(() => onDropped(calls.length)) // R2
  }

  async function seal(call: CallContent): Promise<void> {
    const { project, invocation, rules } = call
    const sealed = await thread.ask(call)
    characters -= sizeOf(call)
    if (sealed === null || sealed.length > capturedContentLimits.sealedCharacters) return onDropped(1) // R2
    sending.add({ project, invocation, version: rules.version, sealed })
  }

  return {
    record(call) {
      if (characters + sizeOf(call) > MAX_CHARACTERS) return onDropped(1) // R2
      characters += sizeOf(call)
      sealing.add(call)
    },
    async stop() {
      await sealing.idle()
      await sending.idle()
      await thread.close()
    },
  }
}

function sizeOf({ request, answer }: CallContent): number {
  return request.length + (answer === null ? 0 : answer.length)
}
