import { useQueries, useQuery } from '@tanstack/react-query'
import type { MeRecord } from '@gateway/api/console/sign-in'
import type { ProjectRecord } from '@gateway/api/console/projects'
import { readingKeyName } from './key-names.ts'
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
  const granted = useMyTenant()?.projects.find(({ id }) => id === project)
  const { data } = useQuery({ ...readingProject(tenant, project), enabled: granted === undefined && tenant !== '' })
  return granted?.name ?? data?.name ?? 'Project'
}

/** Record of the project, null if the user can't see it. */
export function useProject() {
  const { tenant, project } = useScope()
  return useQuery(readingProject(tenant, project))
}

export function readingProject(tenant: string, project: string) {
  const list = readingAll(PROJECTS, { params: { tenant }, query: { ids: project } })
  return { ...list, select: (found: ProjectRecord[]) => found[0] ?? null }
}

const PROJECTS = '/api/v2/tenants/{tenant}/projects'

/** All catalogue products, and the IDs of those assigned to the project. */
export function useCatalogue() {
  const params = useScope()
  const assigned = useQuery(readingAll('/api/v2/tenants/{tenant}/projects/{project}/assignments', { params }))
  const products = useQuery(readingAll('/api/v2/products', { params: {} }))
  return {
    isPending: assigned.isPending || products.isPending,
    error: assigned.error ?? products.error,
    products: products.data,
    assigned: assigned.data && new Set(assigned.data.map(({ product }) => product)),
  }
}

/** Products that the project can call: published and assigned ones. */
export function useProducts() {
  const { products = [], assigned, ...rest } = useCatalogue()
  return { ...rest, products: products.filter(({ id, state }) => assigned?.has(id) && state === 'published') }
}

/** Team that owns the project of the URL. `id` and `name` are missing until they are read, or if the user can't. */
export function useOwningTeam(): { id?: string | undefined; name?: string | undefined; error: unknown } {
  const { tenant } = useScope()
  const project = useProject()
  const teams = useQuery(readingAll('/api/v2/tenants/{tenant}/teams', { params: { tenant } }))
  const id = project.data?.team
  return { id, name: teams.data?.find((each) => each.id === id)?.name, error: project.error }
}

/** The user's role in the project of the URL, or null without a grant. */
export function useProjectRole(): ProjectRole | null {
  const { project } = useScope()
  return useMyTenant()?.projects.find(({ id }) => id === project)?.role ?? null
}

/** The user's roles for the URL's organization and project. Only hides actions; the API enforces permissions. */
export function useMyRoles() {
  const role = useProjectRole()
  return { isAdmin: useMyTenant()?.role === 'Admin', isOwner: role === 'Project Owner', hasGrant: role !== null }
}

function useMyTenant() {
  const { tenant } = useScope()
  return useMe().tenants.find(({ id }) => id === tenant)
}

// Resolves IDs to names. Falls back to the ID if the user cannot read the names.

type NameOf = (id: string) => string

export function useKeyNames(ids: readonly string[]): NameOf {
  const { tenant } = useScope()
  const unique = [...new Set(ids)]
  const names = useQueries({ queries: unique.map((id) => readingKeyName(tenant, id)) })
  return nameIn(names.flatMap(({ data }, n) => (data === undefined ? [] : [{ id: unique[n]!, name: data }])))
}

export function useKeyName(id: string | null): string | null {
  const nameOf = useKeyNames(id === null ? [] : [id])
  return id && nameOf(id)
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
