import type { CallFilter, CallLog, LoggedCall } from './call-log.ts'
import type { FaultBook } from './fault-book.ts'
import { faultRules } from './fault-rule.ts'
import type { FaultRule } from './fault-rule.ts'
import type { HeldCalls } from './held-calls.ts'

/** The control of a provider for tests; the same in-process and through `controlClient`. */
export interface ProviderControl {
  /** Replaces all rules. Throws if a rule has an unknown or invalid field. */
  setFaults(rules: FaultRule[]): Promise<void>
  clearFaults(): Promise<void>
  /** The stored calls, oldest first. */
  calls(filter?: CallFilter): Promise<LoggedCall[]>
  countCalls(filter?: CallFilter): Promise<number>
  clearCalls(): Promise<void>
  /**
   * Resolves with the number of matching calls once there are at least `count`. Throws after `timeoutMs` (default
   * 30,000).
   */
  waitForCalls(count: number, filter?: CallFilter, timeoutMs?: number): Promise<number>
  /** Releases held calls (default: all), oldest first; returns how many. */
  release(count?: number): Promise<number>
}

export interface ControlDeps {
  log: CallLog
  faults: FaultBook
  heldCalls: HeldCalls
}

export function openControl({ log, faults, heldCalls }: ControlDeps): ProviderControl {
  return {
    setFaults: async (rules) => faults.set(faultRules.parse(rules)),
    clearFaults: async () => faults.set([]),
    calls: async (filter) => log.list(filter),
    countCalls: async (filter) => log.count(filter),
    clearCalls: async () => log.clear(),
    async waitForCalls(count, filter = {}, timeoutMs = 30_000) {
      try {
        await log.whenCount(count, filter, AbortSignal.timeout(timeoutMs))
      } catch {
        throw new Error(`only ${log.count(filter)} of ${count} calls after ${timeoutMs} ms`)
      }
      return log.count(filter)
    },
    release: async (count) => heldCalls.release(count),
  }
}
