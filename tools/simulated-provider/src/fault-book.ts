import type { FaultRule } from './fault-rule.ts'

export interface FaultBook {
  set(rules: FaultRule[]): void
  /** Returns the rule for this call, or null; counts against the rule's `times`. */
  take(model: string, prompt: string): FaultRule | null
}

export function openFaultBook(): FaultBook {
  let rules: { rule: FaultRule; left: number }[] = []
  return {
    set(next) {
      rules = next.map((rule) => ({ rule, left: rule.times ?? Number.POSITIVE_INFINITY }))
    },
    take(model, prompt) {
      for (const entry of rules) {
        if (entry.left <= 0) continue
        if (entry.rule.model !== undefined && entry.rule.model !== model) continue
        if (entry.rule.prompt !== undefined && !prompt.includes(entry.rule.prompt)) continue
        entry.left--
        return entry.rule
      }
      return null
    },
  }
}
