import { Link } from '@tanstack/react-router'
import { useQueries } from '@tanstack/react-query'
import { useState } from 'react'
import { readingAll } from '../api/queries.ts'
import { useMe } from '../api/session.ts'
import { IconButton } from '../components/icon-button.tsx'
import { Menu, MenuChoice, MenuGroup, MenuItem, MenuLink, MenuSeparator, SearchMenu } from '../components/menu.tsx'
import { RefusalBox } from '../components/refusal-box.tsx'
import { searchedRows } from '../components/table-rows.ts'
import { several } from '../components/usd.ts'
import { SwitcherButton } from './rail.tsx'
import { useScheme } from './scheme.ts'
import { useSignOut } from './use-sign-out.ts'

// The menus of the frame. They load after the first view.

const names = { system: 'System', light: 'Light', dark: 'Dark' } as const

export function ThemeMenu() {
  const [scheme, choose] = useScheme()
  return (
    <Menu opener={<IconButton icon="scheme" label="Theme" />}>
      <MenuChoice value={scheme} choices={names} onChoose={choose} />
    </Menu>
  )
}

export function AccountMenu() {
  const { name, email } = useMe()
  const signOut = useSignOut()
  return (
    <Menu opener={<IconButton icon="account" label="Account" />}>
      <div className="popup-head">
        <strong>{name}</strong>
        <p className="soft small">{email}</p>
      </div>
      <MenuLink link={<Link to="/account">Account and security</Link>} />
      <MenuLink link={<Link to="/account/security-log">Security log</Link>} />
      <MenuSeparator />
      <MenuItem staysOpen onChoose={() => signOut.mutate()}>
        Sign out
      </MenuItem>
      <RefusalBox error={signOut.error} />
    </Menu>
  )
}

/** Shows the current project, and opens the list of all projects, with a search. */
export function ProjectSwitcher() {
  const [search, setSearch] = useState('')
  return (
    <SearchMenu
      opener={<SwitcherButton />}
      label="Search projects"
      empty="No projects found."
      search={search}
      onSearch={setSearch}
    >
      <ProjectLinks search={search} />
    </SearchMenu>
  )
}

const SHOWN_PROJECTS = 100

/** Read when the menu opens: an organization may have thousands of projects. */
function ProjectLinks({ search }: { search: string }) {
  const { tenants } = useMe()
  const lists = useQueries({
    queries: tenants.map(({ id }) => readingAll('/api/v2/tenants/{tenant}/projects', { params: { tenant: id } })),
  })
  const groups = tenants
    .map((tenant, n) => ({ tenant, found: searchedRows(lists[n]?.data ?? [], search, ({ name }) => name) }))
    .filter(({ found }) => found.length > 0)
  return (
    <>
      {groups.map(({ tenant: each, found }) => (
        <MenuGroup key={each.id} title={each.name}>
          {found.slice(0, SHOWN_PROJECTS).map((one) => (
            <MenuLink
              key={one.id}
              link={
                <Link
                  to="/projects/$tenant/$project"
                  params={{ tenant: each.id, project: one.id }}
                  activeProps={{ 'aria-current': 'true' }}
                >
                  {one.name}
                </Link>
              }
            />
          ))}
          {found.length > SHOWN_PROJECTS && (
            <p className="popup-empty">
              {several(found.length - SHOWN_PROJECTS, 'more project')}. Search to find them.
            </p>
          )}
        </MenuGroup>
      ))}
    </>
  )
}
