import { useState } from 'react'
import { Link } from '@tanstack/react-router'
import { useProjectRole } from '../api/use-project-role.ts'
import { useMe } from '../api/session.ts'
import { usePlace } from '../api/use-project.ts'
import { AssignDialog } from '../organization/assign-dialog.tsx'
import type { Remedy } from './refusal-words.ts'

/** Leads to where it is cleared; nothing where whoever is signed in can't clear it. */
export function RemedyButton({ remedy, code }: { remedy: Remedy; code: string }) {
  const place = usePlace()
  const isAdmin = useMe().tenants.find(({ id }) => id === place.tenant)?.role === 'Admin'
  const role = useProjectRole()
  const [isAssigning, setAssigning] = useState(false)
  const look = { params: place, className: 'button small', 'aria-describedby': `refusal-${code}` }
  switch (remedy) {
    case 'assign':
      if (!isAdmin) return null
      return (
        <>
          <button type="button" className="button small" onClick={() => setAssigning(true)}>
            Assign a model
          </button>
          {isAssigning && <AssignDialog onClose={() => setAssigning(false)} />}
        </>
      )
    case 'create-key':
      if (role !== 'Project Owner' && role !== 'Project Consumer') return null
      return (
        <Link to="/projects/$tenant/$project/keys" search={{ create: true }} {...look}>
          Create a key
        </Link>
      )
    case 'keys':
      return (
        <Link to="/projects/$tenant/$project/keys" {...look}>
          See the keys
        </Link>
      )
    case 'flows':
      if (role === 'Project Viewer') return null
      return (
        <Link to="/projects/$tenant/$project/flows" {...look}>
          See the flows
        </Link>
      )
    case 'wallet':
      return (
        <Link to="/projects/$tenant/$project" {...look}>
          See the wallet
        </Link>
      )
  }
}
