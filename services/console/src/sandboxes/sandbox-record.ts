import type { Package, Revision, Sandbox } from '@gateway/database/models'
import type { RevisionRecord, SandboxRecord } from '@gateway/api/console/sandboxes'
import type { Transaction } from '../audit/record-change.ts'
import type { Response } from 'express'
import type { ConsoleRoutes } from '@gateway/api/console-routes'
import { refuse } from '@gateway/api/refusal'
import type { Call } from '../request/call.ts'
import { userOf, type User } from '../sign-in/user.ts'
import { mayUseSandboxes } from '../permissions/authorize.ts'

/** Stored sandbox product. */
export type SandboxRow = Omit<Sandbox, 'activatedAt' | 'createdBy'>

/** Returns sandbox products as the API shows them, with their active packages. */
export async function sandboxRecords(prisma: Transaction, rows: SandboxRow[]): Promise<SandboxRecord[]> {
  const packages = await prisma.package.findMany({
    where: {
      sandbox: { in: rows.map(({ id }) => id) },
      digest: { in: rows.flatMap(({ activeDigest }) => activeDigest ?? []) },
    },
    select: { sandbox: true, revision: true, digest: true, runnerVersion: true, manifest: true, builtAt: true },
  })
  return rows.map((row) => {
    const { id, name, description, tags, project, activeRevision, latestRevision, mcpEnabled, suspended, createdAt } =
      row
    const active = packages.find(
      (built) => built.sandbox === id && built.revision === activeRevision && built.digest === row.activeDigest,
    )
    return {
      id,
      name,
      description,
      tags,
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

/** Returns one sandbox product as the API shows it. */
export async function sandboxRecord(prisma: Transaction, row: SandboxRow): Promise<SandboxRecord> {
  const [record] = await sandboxRecords(prisma, [row])
  return record!
}

function activePackage({
  digest,
  runnerVersion,
  manifest,
  builtAt,
}: Pick<Package, 'digest' | 'runnerVersion' | 'manifest' | 'builtAt'>): SandboxRecord['activePackage'] {
  return { digest, runnerVersion, manifest, builtAt: builtAt.toISOString() }
}

/** Stored revision. */
export type RevisionRow = Omit<Revision, 'sandbox' | 'manifest' | 'paidNodes' | 'chatInput' | 'chatOutput'>

/**
 * Returns a `RevisionRecord` as JSON text that never changes. Stored JSON is copied byte by byte: a package parsed and
 * serialized again could differ from the text its digest was computed over.
 */
export function revisionText(row: RevisionRow): string {
  const { number, draft, baseRevision, digest, createdBy, createdAt } = row
  const plain = { number, draft, baseRevision, digest, createdBy, createdAt: createdAt.toISOString() }
  const stored = {
    graph: textOf(row.graph),
    problems: textOf(row.problems),
    warnings: textOf(row.warnings),
    package: row.package === null ? 'null' : textOf(row.package),
  } satisfies Record<Exclude<keyof RevisionRecord, keyof typeof plain>, string>
  const members = Object.entries(stored).map(([name, text]) => `"${name}":${text}`)
  return `${JSON.stringify(plain).slice(0, -1)},${members.join(',')}}`
}

export function textOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes)
}

interface ReachedProject {
  user: User
  tenant: string
  project: string
}

/**
 * Returns the project of the path to users who may use its sandbox products. To everyone else, including Admins and
 * Team Owners, they don't exist (flows §1.2).
 * @throws Refusal `not_found`
 */
export async function reachSandboxesOf(
  prisma: Transaction,
  call: Pick<Call<ConsoleRoutes['listSandboxes']>, 'id'>,
  res: Pick<Response, 'locals'>,
): Promise<ReachedProject> {
  const user = userOf(res)
  const [tenant, project] = [call.id('tenant'), call.id('project')]
  if (await mayUseSandboxes(prisma, user, tenant, project)) return { user, tenant, project }
  throw refuse('not_found', {})
}

/**
 * Returns the sandbox product of the path. One that the user may not use looks the same as one that never existed.
 * @throws Refusal `sandbox_not_found`
 */
export async function reachSandbox(
  prisma: Transaction,
  call: Pick<Call<ConsoleRoutes['readSandbox']>, 'id'>,
  res: Pick<Response, 'locals'>,
): Promise<ReachedProject & { sandbox: SandboxRow }> {
  const user = userOf(res)
  const [tenant, id] = [call.id('tenant'), call.id('sandbox')]
  const sandbox = await prisma.sandbox.findUnique({ where: { id } })
  if (sandbox && (await mayUseSandboxes(prisma, user, tenant, sandbox.project)))
    return { user, tenant, project: sandbox.project, sandbox }
  throw refuse('sandbox_not_found', { sandbox: id })
}
