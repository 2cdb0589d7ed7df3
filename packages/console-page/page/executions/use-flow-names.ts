import { useQuery } from '@tanstack/react-query'
import { readingAll } from '../api/reading.ts'
import { useScope } from '../api/use-project.ts'

const SANDBOXES = '/api/v2/tenants/{tenant}/projects/{project}/sandboxes'

/** Flows of the project and their names. */
export function useFlowNames() {
  const { data } = useQuery(readingAll(SANDBOXES, { params: useScope() }))
  const flows = data ?? []
  return { flows, flowName: (id: string) => flows.find((flow) => flow.id === id)?.name ?? id }
}
