import { LRUCache } from 'lru-cache'
import type { AdmissionItem } from './waiting-items.ts'

// The projects of keys and executions that this replica has seen. Neither ever changes its project, and dropping one costs a turn.

export interface ProjectCache {
  get(item: AdmissionItem): string | null
  /** Answers whether it is news. */
  add(item: AdmissionItem, project: string): boolean
  /** Answers whether it is news. */
  addExecution(execution: string, project: string): boolean
}

const MAX_ENTRIES = 50_000

export function openProjectCache(): ProjectCache {
  const byKey = new LRUCache<string, string>({ max: MAX_ENTRIES })
  const byExecution = new LRUCache<string, string>({ max: MAX_ENTRIES }) // apart: they are many and short, and must not push out keys

  function add(cache: LRUCache<string, string>, caller: string, project: string): boolean {
    if (cache.has(caller)) return false
    cache.set(caller, project)
    return true
  }

  return {
    get: (item) => (item.op === 'admit' ? byKey.get(item.keyHash) : byExecution.get(item.execution)) ?? null,
    add: (item, project) =>
      item.op === 'admit' ? add(byKey, item.keyHash, project) : add(byExecution, item.execution, project),
    addExecution: (execution, project) => add(byExecution, execution, project),
  }
}
