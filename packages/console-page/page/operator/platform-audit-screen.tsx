import { useSearch } from '@tanstack/react-router'
import { AuditList } from '../organization/audit-list.tsx'
import { OperatorScreen } from './operator-screen.tsx'

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
