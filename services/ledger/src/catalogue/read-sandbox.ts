import type { SandboxAnswer, SandboxQuestion } from '@gateway/ledger-protocol/flow-reads'
import { refused } from '@gateway/ledger-protocol/ledger-refusal'
import type { Deps } from '../deps.ts'
import { readCaller } from '../keys/read-caller.ts'

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
  unassigned: string | null
}

/**
 * Returns what a key may know of a sandbox product before it starts an execution. Refuses in the same order as a start
 * (rules §2.3). What only the active revision lacks is reported: a repeat does not depend on it (flows §5.2).
 */
export async function readSandbox(
  deps: Pick<Deps, 'reads' | 'packageCache'>,
  { caller: asked, sandbox }: SandboxQuestion,
): Promise<SandboxAnswer> {
  const caller = await readCaller(deps, asked)
  if ('refused' in caller) return caller
  const [row] = await deps.reads.prisma.$queryRaw<SandboxRow[]>`
    SELECT s.id, s.name, s.description, s.project, s.mcp_enabled, s.suspended, p.revision, p.digest,
           money.unlisted_resource(k.id, k.policy, s.id, p.manifest) AS unlisted,
           money.unassigned_product(s.project, p.manifest) AS unassigned
      FROM control.sandboxes s
      JOIN control.keys k ON k.id = ${caller.id} AND k.project = s.project
      LEFT JOIN money.active_packages p ON p.sandbox = s.id
     WHERE s.id = ${sandbox}`
  if (!row) return refused('sandbox_not_found', { sandbox })
  const { unlisted } = row
  if (unlisted === row.id) return refused('key_scope', { resource: unlisted })
  const { id, name, description, project, mcp_enabled: mcpEnabled, suspended, revision, digest, unassigned } = row
  const facts = { id, name, description, project, mcpEnabled, suspended }
  if (revision === null || digest === null) return { sandbox: { ...facts, revision: null } }
  const { input, output } = (await deps.packageCache.get({ sandbox: id, revision, digest })).package
  return { sandbox: { ...facts, revision, digest, input, output, unassigned, unlisted } }
}
