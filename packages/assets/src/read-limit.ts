import { Refusal } from '@gateway/api/refusal'

/** Limits the assets that callers read at the same time. Each holds a file or a connection to the bucket. */
export interface ReadLimit {
  /**
   * Waits for a place, and returns the function that gives it back. Places are given in order of request, past those whose
   * project has none.
   * @throws Refusal `overloaded` after `readWaitMs`
   */
  enter(project: string): Promise<() => void>
  count(): number
}

export interface ReadLimits {
  reads: number
  readsPerProject: number
  readWaitMs: number
}

/** @param refused called for each refused read */
export function openReadLimit({ reads, readsPerProject, readWaitMs }: ReadLimits, refused: () => void): ReadLimit {
  const open = new Map<string, number>() // by project
  const waiting = new Set<{ project: string; admit: () => void }>()
  let all = 0

  const isFull = (project: string) => (open.get(project) ?? 0) >= readsPerProject

  function add(project: string, count: 1 | -1): void {
    all += count
    const sum = (open.get(project) ?? 0) + count
    if (sum === 0) open.delete(project)
    else open.set(project, sum)
  }

  function admitWaiting(): void {
    for (const { project, admit } of waiting) if (all < reads && !isFull(project)) admit()
  }

  return {
    enter: (project) =>
      new Promise((resolve, reject) => {
        const waiter = { project, admit }
        const timer = setTimeout(refuse, readWaitMs)
        function admit(): void {
          clearTimeout(timer)
          waiting.delete(waiter)
          add(project, 1)
          resolve(() => {
            add(project, -1)
            admitWaiting()
          })
        }
        function refuse(): void {
          waiting.delete(waiter)
          refused()
          reject(isFull(project) ? tooManyOfProject(readsPerProject) : tooMany())
        }
        waiting.add(waiter)
        admitWaiting()
      }),
    count: () => all,
  }
}

function tooManyOfProject(limit: number): Refusal {
  return new Refusal(
    'overloaded',
    `The project already reads ${limit} assets at the same time, the maximum.`,
    'Read each asset to its end or close its connection, then retry after Retry-After seconds.',
  )
}

function tooMany(): Refusal {
  return new Refusal(
    'overloaded',
    'Too many assets are being read at the moment.',
    'Retry the request after Retry-After seconds.',
  )
}
