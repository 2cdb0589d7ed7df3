import { type CallTiming, MAX_TRIES, type ProviderTry, type TryOutcome } from '@gateway/api/chat-answer'

/** Times of one call, from its admission on: its tries at providers, and the first token of a stream. */
export interface TimingLog {
  /** Notes the start of a try. Returns a function that notes its end; only the first outcome counts. */
  begin(provider: string): (outcome: TryOutcome) => void
  firstToken(): void
  /** A try that has not ended counts as stopped now. */
  read(): CallTiming
}

const LONGEST_MS = 3_600_000

/** Opened at the admission of a call. */
export function openTimingLog(nowMs: () => number = () => performance.now()): TimingLog {
  const openedMs = nowMs()
  const sinceMs = () => Math.min(Math.max(0, Math.round(nowMs() - openedMs)), LONGEST_MS)
  const tries: (Pick<ProviderTry, 'provider' | 'startMs'> & { end?: Pick<ProviderTry, 'endMs' | 'outcome'> })[] = []
  let firstTokenMs: number | null = null
  return {
    begin(provider) {
      const begun: (typeof tries)[number] = { provider, startMs: sinceMs() }
      tries.push(begun)
      return (outcome) => {
        begun.end ??= { endMs: sinceMs(), outcome }
      }
    },
    firstToken() {
      firstTokenMs ??= sinceMs()
    },
    read: () => ({
      firstTokenMs,
      tries: tries
        .slice(-MAX_TRIES)
        .map(({ end = { endMs: sinceMs(), outcome: 'stopped' as const }, ...begun }) => ({ ...begun, ...end })),
    }),
  }
}
