import {
  LATENCY_BUCKETS,
  latencyBucket,
  type ProviderReport,
  providerReportLimits,
  type RouteTest,
} from '@gateway/ledger-protocol/provider-report'
import { repeat } from '@gateway/service-kit/async/waiting'
import type { Logger } from '@gateway/service-kit/process/logger'
import type { LedgerClient } from './ledger-client.ts'

// Collects what the calls of this process saw of its providers and reports it to the ledger, for operators (rules §7.12).
//   R1  Reporting never delays or fails a call.
//   R2  It is bounded: what doesn't fit a report is dropped, and so is a report that the ledger does not accept in time.
//       The numbers are then too low; no money depends on them.
//   R3  A report has a number, so that a duplicate counts once. One report is in flight at a time.
//   R4  Without calls a report is due every five seconds: the ledger sees that the process lives, and what it has
//       configured, and can hand it a test call.
//   R5  A test call runs once, next to the calls; its result is part of the next report that is accepted.

export interface ProviderReporter {
  observe(event: ProviderEvent): void
  /** Reports the states of the circuits soon. */
  circuitChanged(): void
  /** Reports the rest, and that this process ends. */
  stop(): Promise<void>
}

type Provider = ProviderReport['providers'][number]
type Circuit = Provider['circuit']
type TestResult = NonNullable<ProviderReport['tests']>[number]
type Count = ProviderReport['counts'][number]
type Failure = Omit<ProviderReport['failures'][number], 'agoMs'> & { atMs: number }

/** What happened to a call at a provider, as packages/providers reports it. */
export type ProviderEvent = {
  route: { provider: string; model: string }
  reference: { product: string; invocation: string }
} & (
  | { kind: 'answered'; latencyMs: number }
  | { kind: 'fell_back' }
  | {
      kind: 'failed'
      afterAnswer: boolean
      project: string
      failure: {
        kind: string
        /** false: the request itself is at fault. */
        retryable: boolean
        providerStatus: number | undefined
        providerCode: string | undefined
      }
    }
)

export interface ProviderReporterOptions {
  ledger: Pick<LedgerClient, 'reportProviders'>
  service: ProviderReport['service']
  /** ID of this run of this process. */
  sender: string
  providers: readonly {
    name: string
    kind: string
    credential: Provider['credential']
    credentialAt: Date | null
  }[]
  circuits: () => { provider: string; state: Circuit }[]
  /** Makes a test call. Never rejects. */
  test: (test: RouteTest) => Promise<Omit<TestResult, 'id'>>
  log: Pick<Logger, 'warn'>
  /** Unix milliseconds. */
  now: () => number
}

const EVERY_MS = 1_000
const AT_LEAST_EVERY_MS = 5_000
const REPORT_MS = 5_000
const CODE_CHARACTERS = 64
const { counts: MAX_COUNTS, failures: MAX_FAILURES, providers: MAX_PROVIDERS } = providerReportLimits

export function openProviderReporter(options: ProviderReporterOptions): ProviderReporter {
  const { ledger, service, sender, log, now } = options
  const startedMs = now()
  const circuits = new Map<string, { state: Circuit; atMs: number }>(
    options.providers.map(({ name }) => [name, { state: 'closed', atMs: startedMs }]),
  )
  let counts = new Map<string, Count>()
  let failures: Failure[] = []
  let tests: TestResult[] = []
  let isDirty = true
  let reports = 0
  let reportedMs = startedMs

  function countOf({ route: { provider, model }, reference: { product } }: ProviderEvent): Count | null {
    isDirty = true
    const name = JSON.stringify([provider, model, product])
    const known = counts.get(name)
    if (known) return known
    if (counts.size >= MAX_COUNTS) return null // R2
    const latency = Array.from({ length: LATENCY_BUCKETS }, () => 0)
    const count = { provider, model, product, answered: 0, cut: 0, failed: 0, rejected: 0, fallbacks: 0, latency }
    counts.set(name, count)
    return count
  }

  async function send(providers: Provider[]): Promise<void> {
    const nowMs = now()
    const report: ProviderReport = {
      sender,
      service,
      number: ++reports,
      startedAgoMs: nowMs - startedMs,
      providers,
      counts: [...counts.values()],
      failures: failures.map(({ atMs, ...failure }) => ({ ...failure, agoMs: Math.max(0, nowMs - atMs) })),
      ...(tests.length > 0 && { tests }),
    }
    counts = new Map()
    failures = []
    isDirty = false
    reportedMs = nowMs
    const { test } = await ledger.reportProviders(report, { budgetMs: REPORT_MS }) // R2
    tests = tests.filter((result) => !report.tests?.includes(result)) // R5
    if (test) void runTest(test)
  }

  /** R5 */
  async function runTest(test: RouteTest): Promise<void> {
    const result = await options.test(test)
    tests.push({ id: test.id, ...result })
    isDirty = true
  }

  function noteCircuits(): void {
    for (const { provider, state } of options.circuits())
      if (circuits.get(provider)?.state !== state) circuits.set(provider, { state, atMs: now() })
  }

  function configured(): Provider[] {
    noteCircuits() // a circuit without calls closes without a change
    const nowMs = now()
    return options.providers.slice(0, MAX_PROVIDERS).map(({ name, kind, credential, credentialAt }) => {
      const { state, atMs } = circuits.get(name)!
      return {
        provider: name,
        kind,
        credential,
        credentialAgoMs: credentialAt && Math.max(0, Math.round(nowMs - credentialAt.getTime())),
        circuit: state,
        circuitAgoMs: Math.max(0, nowMs - atMs),
      }
    })
  }

  const stopRepeating = repeat(
    { log },
    {
      name: 'report of providers',
      everyMs: EVERY_MS,
      async work() {
        if (isDirty || now() - reportedMs >= AT_LEAST_EVERY_MS) await send(configured()) // R3, R4
        return 0
      },
    },
  )

  return {
    observe(event) {
      const count = countOf(event)
      if (count === null) return
      switch (event.kind) {
        case 'answered':
          count.answered++
          count.latency[latencyBucket(event.latencyMs)]!++
          return
        case 'fell_back':
          count.fallbacks++
          return
        case 'failed':
          noteFailure(count, event)
      }
    },
    circuitChanged() {
      noteCircuits()
      isDirty = true
    },
    async stop() {
      await stopRepeating()
      await send([]).catch(() => {}) // R2
    },
  }

  function noteFailure(count: Count, event: Extract<ProviderEvent, { kind: 'failed' }>): void {
    const { failure, afterAnswer, project, reference } = event
    if (!failure.retryable) count.rejected++
    else if (afterAnswer) count.cut++
    else count.failed++
    if (failures.length >= MAX_FAILURES) failures.shift()
    failures.push({
      provider: count.provider,
      model: count.model,
      ...reference,
      project,
      kind: failure.kind,
      status: failure.providerStatus ?? null,
      code: failure.providerCode?.slice(0, CODE_CHARACTERS) ?? null,
      atMs: now(),
    })
  }
}
