import { useState } from 'react'
import { Link } from '@tanstack/react-router'
import { useProjectRole } from '../api/use-project-role.ts'
import { useMe } from '../api/session.ts'
import { useScope } from '../api/use-project.ts'
import { AssignDialog } from '../organization/assign-dialog.tsx'
import type { Remedy } from './refusal-labels.ts'

/** Link to the fix of an error, or nothing if the user lacks the rights for it. */
export function RemedyButton({ remedy, code }: { remedy: Remedy; code: string }) {
  const scope = useScope()
  const isAdmin = useMe().tenants.find(({ id }) => id === scope.tenant)?.role === 'Admin'
  const role = useProjectRole()
  const [isAssigning, setAssigning] = useState(false)
  const link = { params: scope, className: 'button small', 'aria-describedby': `refusal-${code}` }
  switch (remedy) {
    case 'assign':
      if (!isAdmin) return null
      return (
        <>
          <button type="button" className="button small" onClick={() => setAssigning(true)}>
            Assign model
          </button>
          {isAssigning && <AssignDialog onClose={() => setAssigning(false)} />}
        </>
      )
    case 'create-key':
      if (role !== 'Project Owner' && role !== 'Project Consumer') return null
      return (
        <Link to="/projects/$tenant/$project/keys" search={{ create: true }} {...link}>
          Create key
        </Link>
      )
    case 'keys':
      return (
        <Link to="/projects/$tenant/$project/keys" {...link}>
          View keys
        </Link>
      )
    case 'flows':
      if (role === 'Project Viewer') return null
      return (
        <Link to="/projects/$tenant/$project/flows" {...link}>
          View flows
        </Link>
      )
    case 'wallet':
      return (
        <Link to="/projects/$tenant/$project" {...link}>
          View wallet
        </Link>
      )
  }
}
