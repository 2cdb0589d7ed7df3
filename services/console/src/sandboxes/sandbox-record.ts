import type { SandboxRecord } from '@gateway/contracts/console/sandboxes'

/** A sandbox product as it is stored. */
export interface SandboxRow {
  id: string
  project: string
  name: string
  description: string
  mcpEnabled: boolean
  suspended: boolean
  latestRevision: number
  activeRevision: number | null
  createdAt: Date
}

export function sandboxRecord(row: SandboxRow): SandboxRecord {
  const { id, name, description, project, activeRevision, latestRevision, mcpEnabled, suspended, createdAt } = row
  return {
    id,
    name,
    description,
    project,
    activeRevision,
    latestRevision,
    mcpEnabled,
    suspended,
    createdAt: createdAt.toISOString(),
  }
}
