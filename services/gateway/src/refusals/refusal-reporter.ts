import type { ServerResponse } from 'node:http'
import { openSweep } from '@gateway/service-kit/async/batcher'
import type { RefusalCode } from '@gateway/api/refusal'
import { refusalReportLimits, type RefusalReport } from '@gateway/ledger-protocol/ledger-refusal'
import type { LedgerClient } from '@gateway/ledger-client/ledger-client'
import type { Metrics } from '../metrics.ts'
import { readKey, storable } from '../request/read-headers.ts'

// Collects refusals and reports them to the ledger once a second, so that users see them (rules §7.6).
//   R1  Reporting never delays or fails a refusal.
//   R2  It is bounded: refusals that don't fit are dropped and counted as dropped. So are those of a report that the
//       ledger does not accept in time. The numbers are then too low; no money depends on them.
//   R3  A report has a number, so that a duplicate counts once. One report is in flight at a time.
//   R4  Refusals of requests without a well-formed key belong to no project and are not reported.

export interface RefusalReporter {
  /** Sets the model that a request names, as soon as it is read. */
  nameModel(res: ServerResponse, model: string): void
  note(res: ServerResponse, code: RefusalCode): void
  /** Reports the rest. */
  stop(): Promise<void>
}

interface Options {
  ledger: Pick<LedgerClient, 'reportRefusals'>
  metrics: Pick<Metrics, 'refusalsDropped'>
  /** ID of this run of this gateway. */
  sender: string
  /** Monotonic milliseconds. */
  now: () => number
}

type Count = RefusalReport['counts'][number]
type Latest = Omit<RefusalReport['latest'][number], 'agoMs'> & { atMs: number }

const EVERY_MS = 1_000
const REPORT_MS = 5_000
const { counts: MAX_COUNTS, latest: MAX_LATEST, modelCharacters } = refusalReportLimits

export function openRefusalReporter({ ledger, metrics, sender, now }: Options): RefusalReporter {
  const models = new WeakMap<ServerResponse, string>()
  let counts = new Map<string, Count>()
  let latest: Latest[] = []
  let reports = 0
  let sending: Promise<void> | null = null
  const sweep = openSweep({
    everyMs: EVERY_MS,
    sweep() {
      sending ??= send().finally(() => (sending = null)) // R3
      return counts.size > 0
    },
  })

  async function send(): Promise<void> {
    const sent = [...counts.values()]
    const refusals = sent.reduce((sum, { count }) => sum + count, 0)
    const nowMs = now()
    const report = {
      sender,
      number: ++reports,
      counts: sent,
      latest: latest.map(({ atMs, ...one }) => ({ ...one, agoMs: Math.round(nowMs - atMs) })),
    }
    counts = new Map()
    latest = []
    await ledger.reportRefusals(report, { budgetMs: REPORT_MS }).catch(() => metrics.refusalsDropped(refusals)) // R2
  }

  return {
    nameModel: (res, model) => void models.set(res, storable(model).slice(0, modelCharacters)),
    note(res, code) {
      const keyHash = keyHashOf(res)
      if (keyHash === null) return // R4
      const name = `${keyHash} ${code}`
      const known = counts.get(name)
      if (known) known.count++
      else if (counts.size < MAX_COUNTS) counts.set(name, { keyHash, code, count: 1 })
      else return metrics.refusalsDropped(1) // R2
      if (latest.length < MAX_LATEST)
        latest.push({
          keyHash,
          code,
          model: models.get(res) ?? null,
          request: String(res.getHeader('X-Request-Id')),
          atMs: now(),
        })
      sweep.arm()
    },
    async stop() {
      await sending
      if (counts.size > 0) await send()
    },
  }
}

function keyHashOf({ req }: ServerResponse): string | null {
  try {
    return readKey(req)
  } catch {
    return null
  }
}
