import { useQuery } from '@tanstack/react-query'
import { useMe } from '../api/session.ts'
import { readingAll } from '../api/reading.ts'
import { useScope } from '../api/use-project.ts'

/** The organization in the URL, and whether the user is its Admin. */
export function useOrganization() {
  const { tenant } = useScope()
  const mine = useMe().tenants.find(({ id }) => id === tenant)
  return { tenant, name: mine?.name ?? 'Organization', isAdmin: mine?.role === 'Admin', teams: mine?.teams ?? [] }
}

export function useMembers() {
  const { tenant } = useScope()
  return useQuery(readingAll('/api/v2/tenants/{tenant}/members', { params: { tenant } }))
}

export function useTeams() {
  const { tenant } = useScope()
  return useQuery(readingAll('/api/v2/tenants/{tenant}/teams', { params: { tenant } }))
}

export function useProjects() {
  const { tenant } = useScope()
  return useQuery(readingAll('/api/v2/tenants/{tenant}/projects', { params: { tenant } }))
}
