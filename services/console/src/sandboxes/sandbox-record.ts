import type { SandboxRecord } from '@gateway/contracts/console/sandboxes'
import type { Transaction } from '../audit/record-change.ts'

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
  activeDigest: string | null
  createdAt: Date
}

/** Sandbox products as the API shows them, with their active packages. */
export async function sandboxRecords(prisma: Transaction, rows: SandboxRow[]): Promise<SandboxRecord[]> {
  const packages = await prisma.package.findMany({
    where: {
      sandbox: { in: rows.map(({ id }) => id) },
      digest: { in: rows.flatMap(({ activeDigest }) => activeDigest ?? []) },
    },
    select: { sandbox: true, revision: true, digest: true, runnerVersion: true, manifest: true, builtAt: true },
  })
  return rows.map((row) => {
    const { id, name, description, project, activeRevision, latestRevision, mcpEnabled, suspended, createdAt } = row
    const active = packages.find(
      (built) => built.sandbox === id && built.revision === activeRevision && built.digest === row.activeDigest,
    )
    return {
      id,
      name,
      description,
      project,
      activeRevision,
      activePackage: active ? activePackage(active) : null,
      latestRevision,
      mcpEnabled,
      suspended,
      createdAt: createdAt.toISOString(),
    }
  })
}

/** One of them. */
export async function sandboxRecord(prisma: Transaction, row: SandboxRow): Promise<SandboxRecord> {
  const [record] = await sandboxRecords(prisma, [row])
  return record!
}

interface PackageRow {
  digest: string
  runnerVersion: string
  manifest: string[]
  builtAt: Date
}

function activePackage({ digest, runnerVersion, manifest, builtAt }: PackageRow): SandboxRecord['activePackage'] {
  return { digest, runnerVersion, manifest, builtAt: builtAt.toISOString() }
}
