import { useQuery } from '@tanstack/react-query'
import { readingAll } from '../api/reading.ts'
import { useMembers, useOrganization, useProjects, useTeams } from './use-organization.ts'

/** Resolves IDs in the audit log to names. A deleted record appears by its ID. */
export function useAuditNames(): (id: string) => string {
  const { tenant, isAdmin } = useOrganization()
  const lists = [
    useMembers(),
    useTeams(),
    useProjects(),
    useQuery(readingAll('/api/v2/tenants/{tenant}/keys', { params: { tenant } })),
    useQuery({ ...readingAll('/api/v2/tenants/{tenant}/tokens', { params: { tenant } }), enabled: isAdmin }),
  ]
  const names = new Map(lists.flatMap(({ data }) => (data ?? []).map(({ id, name }) => [id, name] as const)))
  return (id) => names.get(id) ?? id
}
