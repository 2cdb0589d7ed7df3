import { useQuery } from '@tanstack/react-query'
import type { RevisionRecord, SandboxRecord } from '@gateway/api/console/sandboxes'
import type { ProductRecord } from '@gateway/api/console/products'
import { reading } from '../../api/queries.ts'
import { FLOW } from '../create-flow.ts'
import { useScope, useProducts } from '../../api/session.ts'

export interface OpenedFlow {
  sandbox: SandboxRecord
  /** Latest revision, or null if none has been saved. */
  revision: RevisionRecord | null
  catalogue: readonly ProductRecord[]
}

/** Loads the data that an editor starts with: as it is now, and not as an earlier visit read it. */
export function useOpenedFlow(id: string) {
  const { tenant } = useScope()
  const { data: sandbox, error, isFetchedAfterMount } = useQuery(readingFlow({ tenant, sandbox: id }))
  const number = sandbox?.latestRevision ?? 0
  const latest = useQuery({ ...readingRevision({ tenant, sandbox: id }, number), enabled: number > 0 })
  const { products, isPending, error: productsError } = useProducts()
  const isLatest = isFetchedAfterMount && (number === 0 || latest.data !== undefined)
  const flow: OpenedFlow | null =
    sandbox && isLatest && !isPending ? { sandbox, revision: latest.data ?? null, catalogue: products } : null
  return {
    flow,
    sandbox,
    error: error ?? latest.error ?? productsError,
  }
}

/** Query for a revision. Never refetched, because revisions are immutable. */
export function readingRevision({ tenant, sandbox }: { tenant: string; sandbox: string }, number: number) {
  return {
    ...reading('/api/v2/tenants/{tenant}/sandboxes/{sandbox}/revisions/{number}', {
      params: { tenant, sandbox, number: String(number) },
    }),
    staleTime: Infinity,
  }
}

export function readingFlow(params: { tenant: string; sandbox: string }) {
  return reading(FLOW, { params })
}
