import { useState, useEffect, useId, useRef, type KeyboardEvent } from 'react'
import { CreateFlowDialog } from '../flow-editor/lazy.ts'
import { Dialog } from '../components/dialog.tsx'
import { isComposing } from '../components/is-composing.ts'
import './palette.css'
import { fuzzyFound } from './fuzzy-match.ts'
import { useNavigate } from '@tanstack/react-router'
import { useScope, useMe, useProjectRole } from '../api/session.ts'
import { useScheme, type Scheme } from '../frame/scheme.ts'
import { useSignOut } from '../frame/use-sign-out.ts'
import { useQueries, useQuery } from '@tanstack/react-query'
import { readingAll } from '../api/queries.ts'
import { isExecutionId } from '../calls/call-filters.ts'
import { screens } from '../frame/screens.ts'

/** Fuzzy search for screens, flows, keys, projects and actions. */
export function PaletteDialog({ onClose }: { onClose: () => void }) {
  const [isCreating, setCreating] = useState(false)
  if (isCreating) return <CreateFlowDialog onClose={onClose} />
  return (
    <Dialog title="Search and commands" onClose={onClose}>
      <CommandList onClose={onClose} onCreateFlow={() => setCreating(true)} />
    </Dialog>
  )
}

/** A project may have thousands of keys, and an organization of projects. */
const SHOWN = 100

/** Search field with the matching commands. Arrow keys select one, Enter runs it. */
function CommandList({ onClose, onCreateFlow }: { onClose: () => void; onCreateFlow: () => void }) {
  const id = useId()
  const [sought, setSought] = useState('')
  const [chosen, setChosen] = useState(0)
  const list = useRef<HTMLUListElement>(null)
  const commands = [...useScopeCommands(), ...useActionCommands({ onCreateFlow })]
  const all = [...useIdCommands(sought.trim()), ...fuzzyFound(commands, sought)]
  const found = all.slice(0, SHOWN)
  const at = Math.min(chosen, found.length - 1)
  useEffect(() => {
    list.current?.children[at]?.scrollIntoView({ block: 'nearest' })
  }, [at])
  const run = (command: Command | undefined) => {
    if (!command) return
    if (command.run !== onCreateFlow) onClose()
    command.run()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (isComposing(event)) return
    const next = { ArrowDown: at + 1, ArrowUp: at - 1 + found.length }[event.key]
    if (next === undefined && event.key !== 'Enter') return
    event.preventDefault()
    if (next === undefined) run(found[at])
    else if (found.length > 0) setChosen(next % found.length)
  }
  return (
    <div className="stack palette-commands">
      <input
        type="search"
        role="combobox"
        aria-label="Search and commands"
        aria-expanded
        aria-controls={id}
        aria-autocomplete="list"
        {...(found[at] && { 'aria-activedescendant': `${id}-${at}` })}
        autoComplete="off"
        placeholder="Search screens, flows, keys, IDs and actions"
        value={sought}
        onChange={({ target }) => {
          setSought(target.value)
          setChosen(0)
        }}
        onKeyDown={onKeyDown}
      />
      <ul ref={list} id={id} role="listbox" aria-label="Results">
        {found.map((command, n) => (
          <li
            key={`${command.kind} ${command.id}`}
            id={`${id}-${n}`}
            role="option"
            aria-selected={n === at}
            onClick={() => run(command)}
          >
            <span>{command.title}</span>
            <span className="soft small">{command.kind}</span>
          </li>
        ))}
      </ul>
      <p className="soft small" role="status">
        {all.length === 0 ? 'No results.' : `${all.length} found`}
        {all.length > SHOWN && `, the first ${SHOWN} shown`}
      </p>
    </div>
  )
}

/** Opens the call, what the request made, or the calls of the execution, whose whole ID was typed. */
function useIdCommands(id: string): Command[] {
  const params = useScope()
  const navigate = useNavigate()
  if (params.project === '' || !/^(inv|exe|req)_\w+$/.test(id)) return []
  if (isExecutionId(id)) {
    const run = () => void navigate({ to: '/projects/$tenant/$project/calls', params, search: { execution: id } })
    return [{ id, title: `Calls of execution ${id}`, kind: 'Execution', run }]
  }
  const run = () => void navigate({ to: '/projects/$tenant/$project/calls/$call', params: { ...params, call: id } })
  return [{ id, title: `${id.startsWith('req_') ? 'Call of request' : 'Call'} ${id}`, kind: 'Call', run }]
}

const schemes: Record<Scheme, string> = {
  light: 'Light theme',
  dark: 'Dark theme',
  system: 'System theme',
}

/** Actions available on every screen to every signed-in user. */
function useActionCommands({ onCreateFlow }: { onCreateFlow: () => void }): Command[] {
  const scope = useScope()
  const role = useProjectRole()
  const navigate = useNavigate()
  const [scheme, choose] = useScheme()
  const signOut = useSignOut()
  const action = (title: string, run: () => void): Command => ({ id: title, title, kind: 'Action', run })
  const mayMake = role === 'Project Owner' || role === 'Project Consumer'
  const inProject = [
    action(
      'Create key',
      () => void navigate({ to: '/projects/$tenant/$project/keys', params: scope, search: { create: true } }),
    ),
    action('Create flow', onCreateFlow),
  ]
  return [
    ...(mayMake ? inProject : []),
    ...(Object.keys(schemes) as Scheme[])
      .filter((each) => each !== scheme)
      .map((each) => action(schemes[each], () => choose(each))),
    action('API reference', () => void window.open('/docs', '_blank', 'noopener,noreferrer')),
    action('Sign out', () => signOut.mutate()),
  ]
}

/** Screens, flows and keys of this project, and all other projects. */
function useScopeCommands(): Command[] {
  const scope = useScope()
  const { tenant, project } = scope
  const navigate = useNavigate()
  const { tenants } = useMe()
  const enabled = project !== ''
  const keys = useQuery({
    ...readingAll('/api/v2/tenants/{tenant}/keys', { params: { tenant }, query: { project } }),
    enabled,
  })
  const flows = useQuery({
    ...readingAll('/api/v2/tenants/{tenant}/projects/{project}/sandboxes', { params: scope }),
    enabled,
  })
  const lists = useQueries({
    queries: tenants.map(({ id }) => readingAll('/api/v2/tenants/{tenant}/projects', { params: { tenant: id } })),
  })
  const ownScreens = screens.map(({ to, title }): Command => ({
    id: to,
    title,
    kind: 'Screen',
    run: () => void navigate({ to, params: scope }),
  }))
  const allProjects: Command = { id: '/', title: 'Projects', kind: 'Screen', run: () => void navigate({ to: '/' }) }
  const ownFlows = (flows.data ?? []).map(({ id, name }): Command => ({
    id,
    title: name,
    kind: 'Flow',
    run: () => void navigate({ to: '/projects/$tenant/$project/flows/$sandbox', params: { ...scope, sandbox: id } }),
  }))
  const ownKeys = (keys.data ?? []).map(({ id, name }): Command => ({
    id,
    title: name,
    kind: 'Key',
    run: () => void navigate({ to: '/projects/$tenant/$project/keys/$key', params: { ...scope, key: id } }),
  }))
  const projects = tenants.flatMap((each, n) =>
    (lists[n]?.data ?? [])
      .filter(({ id }) => id !== project)
      .map(({ id, name }): Command => ({
        id,
        title: `${name} (${each.name})`,
        kind: 'Project',
        run: () => void navigate({ to: '/projects/$tenant/$project', params: { tenant: each.id, project: id } }),
      })),
  )
  return [...(enabled ? ownScreens : []), allProjects, ...ownFlows, ...ownKeys, ...projects]
}

/** Navigation target or action of the palette. */
interface Command {
  id: string
  /** Searched and shown. */
  title: string
  kind: 'Screen' | 'Action' | 'Key' | 'Flow' | 'Project' | 'Call' | 'Execution'
  run(): void
}
