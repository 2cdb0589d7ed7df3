import { useQuery } from '@tanstack/react-query'
import { readingAll } from './reading.ts'
import { useScope } from './use-project.ts'

// Resolves IDs to names. Falls back to the ID if the user cannot read the names.

type NameOf = (id: string) => string

export function useKeyNames(): NameOf {
  const { tenant, project } = useScope()
  const { data } = useQuery(readingAll('/api/v2/tenants/{tenant}/keys', { params: { tenant }, query: { project } }))
  return nameIn(data)
}

export function useMemberNames(): NameOf {
  const { tenant } = useScope()
  const { data } = useQuery(readingAll('/api/v2/tenants/{tenant}/members', { params: { tenant } }))
  return nameIn(data)
}

function nameIn(rows: { id: string; name: string }[] | undefined): NameOf {
  const names = new Map(rows?.map(({ id, name }) => [id, name]))
  return (id) => names.get(id) ?? id
}
