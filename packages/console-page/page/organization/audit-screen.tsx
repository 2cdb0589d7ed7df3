import { useSearch } from '@tanstack/react-router'
import { Screen } from '../frame/screen.tsx'
import { AuditList } from './audit-list.tsx'
import { useMembers, useOrganization, useProjects, useTeams } from './list-screen.tsx'
import { useQuery } from '@tanstack/react-query'
import { readingAll } from '../api/queries.ts'

/** Audit log of an organization. */
export function AuditScreen() {
  const { tenant, name } = useOrganization()
  return (
    <Screen title="Audit log" of={name}>
      <AuditList
        of={{ tenant }}
        filters={useSearch({ from: '/organizations/$tenant/audit' })}
        users={useMembers().data ?? []}
        nameOf={useAuditNames()}
        empty="Sign-ins of members and changes to users, projects, keys and flows are recorded here."
      />
    </Screen>
  )
}

/** Resolves IDs in the audit log to names. A deleted record appears by its ID. */
function useAuditNames(): (id: string) => string {
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
