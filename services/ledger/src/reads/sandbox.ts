import type { SandboxAnswer, SandboxFacts, SandboxQuestion } from '@gateway/contracts/flow-reads'
import type { FlowPackage } from '@gateway/contracts/graph'
import { refused } from '@gateway/contracts/ledger-refusal'
import type { Database } from '@gateway/database/client'
import { readCaller } from './caller.ts'

interface SandboxRow {
  id: string
  name: string
  description: string
  project: string
  mcp_enabled: boolean
  suspended: boolean
  revision: number | null
  digest: string | null
  unlisted: string | null
}

type Sides = Pick<FlowPackage, 'input' | 'output'>

const SIDES_KEPT = 1_000

/**
 * What a key may know of a sandbox product before it runs it, refused in the order in which a run is (decisions.md, 1). Packages
 * never change, so the contract of each is read once.
 */
export function readSandbox({ prisma }: Pick<Database, 'prisma'>) {
  const sidesOf = new Map<string, Sides>()

  return async ({ caller: who, sandbox }: SandboxQuestion): Promise<SandboxAnswer> => {
    const caller = await readCaller({ prisma }, who)
    if ('refused' in caller) return caller
    const [row] = await prisma.$queryRaw<SandboxRow[]>`
      SELECT s.id, s.name, s.description, s.project, s.mcp_enabled, s.suspended, r.number AS revision, r.digest,
             money.unlisted_v1(k.id, k.policy, s.id, r.manifest) AS unlisted
        FROM control.sandboxes s
        JOIN control.keys k ON k.id = ${caller.id} AND k.project = s.project
        LEFT JOIN control.revisions r ON r.sandbox = s.id AND r.number = s.active_revision
       WHERE s.id = ${sandbox}`
    if (!row) return refused('sandbox_not_found', { sandbox })
    if (row.unlisted !== null) return refused('key_scope', { resource: row.unlisted })
    const { id, name, description, project, revision, digest, suspended } = row
    if (revision === null || digest === null)
      return refused('revision_not_active', { revision: null, activeRevision: null, suspended })
    const sides = sidesOf.get(digest) ?? (await readSides(id, revision, digest))
    const facts = { id, name, description, project, mcpEnabled: row.mcp_enabled, suspended, revision, digest }
    return { sandbox: { ...facts, ...sides } satisfies SandboxFacts }
  }

  async function readSides(sandbox: string, number: number, digest: string): Promise<Sides> {
    const revision = await prisma.revision.findUniqueOrThrow({
      where: { sandbox_number: { sandbox, number } },
      select: { package: true },
    })
    const { input, output } = JSON.parse(Buffer.from(revision.package!).toString()) as FlowPackage
    if (sidesOf.size >= SIDES_KEPT) sidesOf.clear()
    sidesOf.set(digest, { input, output })
    return { input, output }
  }
}
