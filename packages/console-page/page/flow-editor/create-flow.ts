import type { SandboxRecord } from '@gateway/api/console/sandboxes'
import type { Graph } from '@gateway/api/graph'
import { ask } from '../api/ask.ts'
import type { ProjectScope } from '../api/session.ts'

export const FLOWS = '/api/v2/tenants/{tenant}/projects/{project}/sandboxes'
export const FLOW = '/api/v2/tenants/{tenant}/sandboxes/{sandbox}'
export const REVISIONS = `${FLOW}/revisions` as const

/**
 * Creates a flow, and saves its first revision.
 * @param graph null: it starts without a revision
 */
export async function createFlow(
  { tenant, project }: ProjectScope,
  body: Partial<Pick<SandboxRecord, 'description' | 'tags'>> & Pick<SandboxRecord, 'name'>,
  graph: Graph | null,
  idempotencyKey: string,
): Promise<SandboxRecord> {
  const flow = await ask('POST', FLOWS, { params: { tenant, project }, body, idempotencyKey })
  if (graph === null) return flow
  const params = { tenant, sandbox: flow.id }
  await ask('POST', REVISIONS, { params, body: { graph }, idempotencyKey: `${idempotencyKey}-1` })
  return flow
}
