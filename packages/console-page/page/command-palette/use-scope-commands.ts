import { useQueries, useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { readingAll } from '../api/reading.ts'
import { useMe } from '../api/session.ts'
import { useScope } from '../api/use-project.ts'
import { screens } from '../frame/screens.ts'
import type { Command } from './commands.ts'

/** Screens, flows and keys of this project, and all other projects. */
export function useScopeCommands(): Command[] {
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
  const ownKeys = (keys.data ?? []).map(({ id, name, state }): Command => ({
    id,
    title: name,
    kind: 'Key',
    run: () =>
      void navigate({
        to: '/projects/$tenant/$project/keys',
        params: scope,
        search: state === 'Active' ? {} : { ended: true },
      }),
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
