import type { Deps } from '../deps.ts'
import { hasEnded, type ExecutionChange } from './store/execution-facts.ts'

// A notification says "look again" and may be lost: whoever waits also looks by themselves, and maintenance repeats the
// last kind. Topics: `<execution>` for each line of progress, `done:<execution>` for the last one, `end:<execution>`
// for nodes to be aborted.

/** Wakes those who follow executions that have changed. */
export function notifyChanges({ notifier }: Pick<Deps, 'notifier'>, changes: Iterable<ExecutionChange>): void {
  for (const change of changes) {
    const { execution, seq, ending } = change
    if (seq > execution.seq) notifier.notify(execution.id)
    if (hasEnded(change)) notifier.notify(`done:${execution.id}`)
    if (ending) notifyEnding({ notifier }, execution.id)
  }
}

/** Wakes the workers that execution nodes of an execution that is failing. */
export function notifyEnding({ notifier }: Pick<Deps, 'notifier'>, execution: string): void {
  notifier.notify(`end:${execution}`)
}
