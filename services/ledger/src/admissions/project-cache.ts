import type { AdmissionItem } from './waiting-items.ts'

// Whose keys and runs are, as far as this replica has seen. A project of either never changes, and forgetting one costs a turn.

export interface KnownProjects {
  projectOf(item: AdmissionItem): string | null
  /** Both answer whether it is news. */
  add(item: AdmissionItem, project: string): boolean
  addExecution(execution: string, project: string): boolean
}

const REMEMBERED = 50_000

export function openKnownProjects(): KnownProjects {
  const byKey = new Map<string, string>()
  const byExecution = new Map<string, string>() // apart: runs are many and short, and must not push out the keys

  function add(known: Map<string, string>, caller: string, project: string): boolean {
    if (known.has(caller)) return false
    if (known.size >= REMEMBERED) known.clear()
    known.set(caller, project)
    return true
  }

  return {
    projectOf: (item) => (item.op === 'admit' ? byKey.get(item.keyHash) : byExecution.get(item.execution)) ?? null,
    add: (item, project) =>
      item.op === 'admit' ? add(byKey, item.keyHash, project) : add(byExecution, item.execution, project),
    addExecution: (execution, project) => add(byExecution, execution, project),
  }
}
