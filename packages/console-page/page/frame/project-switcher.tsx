import { useState } from 'react'
import { useQueries } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { readingAll } from '../api/reading.ts'
import { useMe } from '../api/session.ts'
import { useScope, useProjectName } from '../api/use-project.ts'
import { Icon } from '../components/icon.tsx'
import { PopupMenu } from './popup-menu.tsx'

/** Shows the current project and switches to another one, with a search. */
export function ProjectSwitcher() {
  const { tenant, project } = useScope()
  const name = useProjectName()
  const { tenants } = useMe()
  const [sought, setSought] = useState('')
  const lists = useQueries({
    queries: tenants.map(({ id }) => readingAll('/api/v2/tenants/{tenant}/projects', { params: { tenant: id } })),
  })
  const fits = (text: string) => text.toLowerCase().includes(sought.trim().toLowerCase())
  const label = (
    <>
      <span className="switcher-mark" aria-hidden="true">
        {(project === '' ? '?' : name).slice(0, 1).toUpperCase()}
      </span>
      <span className="rail-text">
        {project === '' ? 'Choose a project' : name}
        <small>{tenants.find(({ id }) => id === tenant)?.name ?? 'all organizations'}</small>
      </span>
      <Icon name="down" />
    </>
  )
  return (
    <PopupMenu className="switcher" label={label}>
      <input
        type="search"
        aria-label="Search projects"
        placeholder="Search projects"
        value={sought}
        onChange={({ target }) => setSought(target.value)}
      />
      {tenants.map((each, n) => (
        <div key={each.id}>
          <h3>{each.name}</h3>
          {(lists[n]?.data ?? [])
            .filter((one) => fits(one.name))
            .map((one) => (
              <Link
                key={one.id}
                to="/projects/$tenant/$project"
                params={{ tenant: each.id, project: one.id }}
                activeProps={{ 'aria-current': 'true' }}
              >
                {one.name}
              </Link>
            ))}
        </div>
      ))}
    </PopupMenu>
  )
}
