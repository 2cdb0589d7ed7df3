import { useSearch } from '@tanstack/react-router'
import { useMe } from '../api/session.ts'
import { Screen } from '../frame/screen.tsx'
import { AuditList } from '../organization/audit-list.tsx'

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
