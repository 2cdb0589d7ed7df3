import { useSearch } from '@tanstack/react-router'
import { Screen } from '../frame/screen.tsx'
import { AuditList } from './audit-list.tsx'
import { useAuditNames } from './use-audit-names.ts'
import { useMembers, useOrganization } from './use-organization.ts'

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
