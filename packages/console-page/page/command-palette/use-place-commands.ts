import { useQueries, useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { readingAll } from '../api/reading.ts'
import { useMe } from '../api/session.ts'
import { usePlace } from '../api/use-project.ts'
import { screens } from '../frame/screens.ts'
import type { Command } from './commands.ts'

/** The screens, flows and keys of this project, and all other projects. */
export function usePlaceCommands(): Command[] {
  const place = usePlace()
  const { tenant, project } = place
  const navigate = useNavigate()
  const { tenants } = useMe()
  const enabled = project !== ''
  const keys = useQuery({
    ...readingAll('/api/v2/tenants/{tenant}/keys', { params: { tenant }, query: { project } }),
    enabled,
  })
  const flows = useQuery({
    ...readingAll('/api/v2/tenants/{tenant}/projects/{project}/sandboxes', { params: place }),
    enabled,
  })
  const lists = useQueries({
    queries: tenants.map(({ id }) => readingAll('/api/v2/tenants/{tenant}/projects', { params: { tenant: id } })),
  })
  const ownScreens = screens.map(({ to, title }): Command => ({
    id: to,
    title,
    kind: 'Screen',
    run: () => void navigate({ to, params: place }),
  }))
  const allProjects: Command = { id: '/', title: 'Projects', kind: 'Screen', run: () => void navigate({ to: '/' }) }
  const ownFlows = (flows.data ?? []).map(({ id, name }): Command => ({
    id,
    title: name,
    kind: 'Flow',
    run: () => void navigate({ to: '/projects/$tenant/$project/flows/$sandbox', params: { ...place, sandbox: id } }),
  }))
  const ownKeys = (keys.data ?? []).map(({ id, name, state }): Command => ({
    id,
    title: name,
    kind: 'Key',
    run: () =>
      void navigate({
        to: '/projects/$tenant/$project/keys',
        params: place,
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
