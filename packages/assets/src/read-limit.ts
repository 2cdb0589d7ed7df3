import { Refusal } from '@gateway/api/refusal'

/** Limits the assets that callers read at the same time. Each holds a file or a connection to the bucket. */
export interface ReadLimit {
  /**
   * Counts a read of the project, and returns the function that ends it.
   * @throws Refusal `overloaded`
   */
  enter(project: string): () => void
  count(): number
}

export interface ReadLimits {
  reads: number
  readsPerProject: number
}

/** @param refused called for each refused read */
export function openReadLimit({ reads, readsPerProject }: ReadLimits, refused: () => void): ReadLimit {
  const open = new Map<string, number>() // by project
  let all = 0

  function add(project: string, count: 1 | -1): void {
    all += count
    const sum = (open.get(project) ?? 0) + count
    if (sum === 0) open.delete(project)
    else open.set(project, sum)
  }

  return {
    enter(project) {
      const ofProject = open.get(project) ?? 0
      if (ofProject >= readsPerProject || all >= reads) {
        refused()
        throw ofProject >= readsPerProject ? tooManyOfProject(readsPerProject) : tooMany()
      }
      add(project, 1)
      return () => add(project, -1)
    },
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
