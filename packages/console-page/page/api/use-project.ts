import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { readingAll } from './reading.ts'
import { useMe } from './session.ts'

export interface ProjectScope {
  tenant: string
  project: string
}

/** Project in the URL. */
export function useScope(): ProjectScope {
  const { tenant = '', project = '' } = useParams({ strict: false })
  return { tenant, project }
}

/** Name of the project, once loaded. */
export function useProjectName(): string {
  const { tenant, project } = useScope()
  const granted = useMe()
    .tenants.find(({ id }) => id === tenant)
    ?.projects.find(({ id }) => id === project)
  const { data } = useQuery({
    ...readingAll('/api/v2/tenants/{tenant}/projects', { params: { tenant } }),
    enabled: granted === undefined && tenant !== '',
  })
  return granted?.name ?? data?.find(({ id }) => id === project)?.name ?? 'Project'
}

/** Products that the project can call: published and assigned ones. */
export function useProducts() {
  const params = useScope()
  const assigned = useQuery(readingAll('/api/v2/tenants/{tenant}/projects/{project}/assignments', { params }))
  const products = useQuery(readingAll('/api/v2/products', { params: {} }))
  const ids = new Set(assigned.data?.map(({ product }) => product))
  return {
    isPending: assigned.isPending || products.isPending,
    error: assigned.error ?? products.error,
    products: (products.data ?? []).filter(({ id, state }) => ids.has(id) && state === 'published'),
  }
}
