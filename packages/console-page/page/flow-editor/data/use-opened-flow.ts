import { useQuery } from '@tanstack/react-query'
import type { RevisionRecord, SandboxRecord } from '@gateway/api/console/sandboxes'
import type { ProductRecord } from '@gateway/api/console/products'
import { reading } from '../../api/queries.ts'
import { useScope, useProducts } from '../../api/session.ts'

export interface OpenedFlow {
  sandbox: SandboxRecord
  /** Latest revision, or null if none has been saved. */
  revision: RevisionRecord | null
  catalogue: readonly ProductRecord[]
}

/** Loads the data that an editor starts with. */
export function useOpenedFlow(id: string): { flow: OpenedFlow | null; error: unknown } {
  const { tenant } = useScope()
  const { data: sandbox, error } = useQuery(
    reading('/api/v2/tenants/{tenant}/sandboxes/{sandbox}', { params: { tenant, sandbox: id } }),
  )
  const number = sandbox?.latestRevision ?? 0
  const latest = useQuery({ ...readingRevision({ tenant, sandbox: id }, number), enabled: number > 0 })
  const { products, isPending, error: productsError } = useProducts()
  const isRead = sandbox !== undefined && (number === 0 || latest.data !== undefined) && !isPending
  return {
    flow: isRead ? { sandbox, revision: latest.data ?? null, catalogue: products } : null,
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
