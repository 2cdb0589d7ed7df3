import { useQuery } from '@tanstack/react-query'
import { readingAll } from '../api/reading.ts'
import { useScope } from '../api/use-project.ts'

const SANDBOXES = '/api/v2/tenants/{tenant}/projects/{project}/sandboxes'

/** The flows of the project, and how each is called. */
export function useFlowNames() {
  const { data } = useQuery(readingAll(SANDBOXES, { params: useScope() }))
  const flows = data ?? []
  return { flows, flowName: (id: string) => flows.find((flow) => flow.id === id)?.name ?? id }
}
