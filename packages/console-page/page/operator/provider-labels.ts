import type { ProviderHealth, ProviderRange } from '@gateway/api/console/provider-health'
import type { ChartStep } from '../components/chart-scale.ts'
import type { Tone } from '../components/values.tsx'

export const rangeLabels: Record<ProviderRange, string> = {
  hour: 'Last hour',
  day: 'Last 24 hours',
  week: 'Last 7 days',
}

type Counts = Pick<ProviderHealth, 'calls' | 'failed' | 'rejected'>

/** Share of failed attempts, without those whose request was at fault; null without attempts. */
export function errorRate({ calls, failed, rejected }: Counts): number | null {
  const counted = calls - rejected
  return counted === 0 ? null : failed / counted
}

const percent = new Intl.NumberFormat('en', { style: 'percent', maximumFractionDigits: 1 })

export function errorRateText(counts: Counts): string {
  const rate = errorRate(counts)
  if (rate === null) return '–'
  return rate > 0 && rate < 0.001 ? '< 0.1%' : percent.format(rate)
}

/** Share of failures from which a provider stands out. */
const NOTABLE_RATE = 0.05

/** State of a provider: what is configured comes before what was counted. */
export function providerState(of: Pick<ProviderHealth, 'processes'> & Counts): { tone: Tone; text: string } {
  const { processes } = of
  if (processes.length === 0) return { tone: 'bad', text: 'Not configured' }
  const broken = processes.filter(({ circuit }) => circuit !== 'closed')
  if (broken.length > 0)
    return {
      tone: 'bad',
      text: `Circuit open in ${broken.length} of ${processes.length} ${processes.length === 1 ? 'process' : 'processes'}`,
    }
  const rate = errorRate(of)
  if (rate === null)
    return of.calls > 0 ? { tone: 'warn', text: 'Requests refused' } : { tone: 'plain', text: 'No calls' }
  return rate >= NOTABLE_RATE ? { tone: 'warn', text: 'Failing' } : { tone: 'good', text: 'Healthy' }
}

type Process = ProviderHealth['processes'][number]

export const credentialLabels: Record<Process['credential'], string> = {
  configuration: 'In PROVIDERS',
  environment: 'Environment variable',
  file: 'File',
  aws_chain: 'AWS default chain',
  none: 'None',
}

/** Where the processes have the credential from: one place, unless they differ. */
export function credentialText(processes: readonly Process[]): string {
  const places = new Set(processes.map(({ credential }) => credentialLabels[credential]))
  return places.size === 0 ? '–' : [...places].join(', ')
}

export const circuitLabels: Record<Process['circuit'], { tone: Tone; text: string }> = {
  closed: { tone: 'good', text: 'Closed' },
  'half-open': { tone: 'warn', text: 'Half-open' },
  open: { tone: 'bad', text: 'Open' },
}

const failureKinds: Readonly<Record<string, string>> = {
  unreachable: 'Unreachable',
  refused: 'Refused',
  timeout: 'Timed out',
  cut: 'Response broke off',
  garbage: 'Unreadable response',
  too_large: 'Response too large',
  busy: 'No free connection',
  circuit_open: 'Circuit open',
}

type Test = ProviderHealth['tests'][number]

/** How a test call stands: what failed, or what it waits for. */
export function testState({ state, failure }: Pick<Test, 'state' | 'failure'>): { tone: Tone; text: string } {
  switch (state) {
    case 'waiting':
      return { tone: 'plain', text: 'Waiting for a process' }
    case 'running':
      return { tone: 'plain', text: 'Running' }
    case 'succeeded':
      return { tone: 'good', text: 'Succeeded' }
    case 'failed':
      return { tone: 'bad', text: failure ? failureText(failure) : 'Failed' }
    case 'expired':
      return { tone: 'warn', text: 'No result' }
  }
}

/** What a failure was, with what the provider said: "Refused: 503 overloaded_error". */
export function failureText({
  kind,
  status,
  code,
}: Pick<ProviderHealth['failures'][number], 'kind' | 'status' | 'code'>): string {
  const said = [status, code].filter((part) => part !== null).join(' ')
  const name = failureKinds[kind] ?? kind
  return said === '' ? name : `${name}: ${said}`
}

/** All steps of a range, with what succeeded, what failed and what was refused for the request itself in each. */
export function attemptSteps(
  { from, to, stepMs }: { from: string; to: string; stepMs: number },
  steps: ProviderHealth['steps'],
): ChartStep[] {
  const begin = Math.floor(Date.parse(from) / stepMs) * stepMs
  const byTime = new Map(steps.map((step) => [Date.parse(step.at), step]))
  const length = Math.ceil((Date.parse(to) - begin) / stepMs)
  return Array.from({ length }, (_, n): ChartStep => {
    const at = begin + n * stepMs
    const { calls = 0, failed = 0, rejected = 0 } = byTime.get(at) ?? {}
    const iso = (ms: number) => new Date(ms).toISOString()
    return { from: iso(at), to: iso(at + stepMs), values: [Math.max(0, calls - failed - rejected), failed, rejected] }
  })
}
