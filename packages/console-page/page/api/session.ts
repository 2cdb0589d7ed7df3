import { useQuery } from '@tanstack/react-query'
import type { MeRecord } from '@gateway/api/console/sign-in'
import { reading, readingAll } from './queries.ts'
import { useParams } from '@tanstack/react-router'
import type { ProjectRole } from '@gateway/api/console/fields'

export const readingMe = reading('/api/v2/me', { params: {} })
export const readingSignInMethods = reading('/api/v2/session', { params: {} })

/** The signed-in user. For components that render only when signed in. */
export function useMe(): MeRecord {
  const { data } = useQuery(readingMe)
  if (!data) throw new Error('No one is signed in.')
  return data
}

/** Base URL for model calls. */
export function useBaseUrl(): string {
  return useQuery(readingSignInMethods).data?.baseUrl ?? location.origin
}

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

/** Team that owns the project of the URL. `id` and `name` are missing until they are read, or if the user can't. */
export function useOwningTeam(): { id?: string | undefined; name?: string | undefined; error: unknown } {
  const { tenant, project } = useScope()
  const projects = useQuery(readingAll('/api/v2/tenants/{tenant}/projects', { params: { tenant } }))
  const teams = useQuery(readingAll('/api/v2/tenants/{tenant}/teams', { params: { tenant } }))
  const id = projects.data?.find((each) => each.id === project)?.team
  return { id, name: teams.data?.find((each) => each.id === id)?.name, error: projects.error }
}

/** The user's role in the project of the URL, or null without a grant. */
export function useProjectRole(): ProjectRole | null {
  const { tenant, project } = useScope()
  const projects = useMe().tenants.find(({ id }) => id === tenant)?.projects
  return projects?.find(({ id }) => id === project)?.role ?? null
}

// Resolves IDs to names. Falls back to the ID if the user cannot read the names.

type NameOf = (id: string) => string

export function useKeyNames(): NameOf {
  const { tenant, project } = useScope()
  const { data } = useQuery(readingAll('/api/v2/tenants/{tenant}/keys', { params: { tenant }, query: { project } }))
  return nameIn(data)
}

export function useMemberNames(): NameOf {
  const { tenant } = useScope()
  const { data } = useQuery(readingAll('/api/v2/tenants/{tenant}/members', { params: { tenant } }))
  return nameIn(data)
}

function nameIn(rows: { id: string; name: string }[] | undefined): NameOf {
  const names = new Map(rows?.map(({ id, name }) => [id, name]))
  return (id) => names.get(id) ?? id
}
