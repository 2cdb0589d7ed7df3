import { useSearch } from '@tanstack/react-router'
import { Screen } from '../frame/screen.tsx'
import { AuditList } from './audit-list.tsx'
import { useMembers, useOrganization, useProjects, useTeams } from './list-screen.tsx'
import { useQuery } from '@tanstack/react-query'
import { readingAll } from '../api/queries.ts'
import { useMe } from '../api/session.ts'
import { OperatorScreen } from '../operator/operator-screen.tsx'

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

/** Resolves IDs in the audit log to names, except those of keys. A deleted record appears by its ID. */
function useAuditNames(): (id: string) => string {
  const { tenant, isAdmin } = useOrganization()
  const lists = [
    useMembers(),
    useTeams(),
    useProjects(),
    useQuery({ ...readingAll('/api/v2/tenants/{tenant}/tokens', { params: { tenant } }), enabled: isAdmin }),
  ]
  const names = new Map(lists.flatMap(({ data }) => (data ?? []).map(({ id, name }) => [id, name] as const)))
  return (id) => names.get(id) ?? id
}

/** What the user did, in all organizations, and failed attempts to sign in as the user. */
export function SecurityLogScreen() {
  const { id, name, tenants } = useMe()
  const names = new Map([[id, name], ...tenants.flatMap((tenant) => [tenant, ...tenant.projects].map(nameById))])
  return (
    <Screen title="Security log" of="Account">
      <AuditList
        of="me"
        filters={useSearch({ from: '/account/security-log' })}
        users={null}
        nameOf={(each) => names.get(each) ?? each}
        empty="Your sign-ins and changes are recorded here."
      />
    </Screen>
  )
}

function nameById({ id, name }: { id: string; name: string }): [string, string] {
  return [id, name]
}

/** Audit log of all organizations and of the platform. */
export function PlatformAuditScreen() {
  return (
    <OperatorScreen title="Audit log">
      <AuditList
        of="platform"
        filters={useSearch({ from: '/operator/audit' })}
        users={[]}
        nameOf={(id) => id}
        empty="Sign-ins and changes in all organizations are recorded here."
      />
    </OperatorScreen>
  )
}
