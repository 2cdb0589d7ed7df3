import { refuse } from '@gateway/contracts/refusal'
import { recordChange, type Transaction } from '../audit/record-change.ts'
import type { ConsoleDeps } from '../deps.ts'
import type { Handler } from '../request/call.ts'
import { answeredBefore, createOnce } from '../request/create-once.ts'
import { checkGraph, type BuiltPackage } from './check-graph.ts'
import { reachSandbox } from './reach-sandbox.ts'
import { graphBytes, sentGraph } from './read-graph.ts'
import { revisionText } from './revision-record.ts'

/** Many may save one sandbox product at the same moment; each waits for those before it. */
const TAKE_TURNS = { maxWait: 10_000, timeout: 10_000 }

/**
 * POST …/sandboxes/{s}/revisions: a new revision, whatever was saved before and whatever is wrong with it (flows §3.1). It is
 * stored with its problems, and what has any can't be activated; `draft` only marks it. Of several who save on the same base
 * the first wins.
 * @throws Refusal `revision_conflict`, `invalid_request`, `request_too_large`
 */
export function saveRevision(deps: Pick<ConsoleDeps, 'prisma'>): Handler<'saveRevision'> {
  const { prisma } = deps
  return async (call, res) => {
    const { person, tenant, project, sandbox } = await reachSandbox(deps, call, res)
    const { draft, baseRevision } = await call.body()
    const graph = sentGraph(await call.sentBody())
    if (await answeredBefore(deps, call, res)) return // on a base that was the latest then
    // Revisions only ever become more, so a base that is stale now is refused without waiting for a turn.
    requireBase(baseRevision, sandbox.latestRevision)
    const { problems, built } = await checkGraph(prisma, project, graph)
    const make = async (tx: Transaction) => {
      const number = await nextNumber(tx, sandbox.id, baseRevision)
      const row = await tx.revision.create({
        data: {
          sandbox: sandbox.id,
          number,
          draft,
          baseRevision,
          graph: graphBytes(graph),
          problems: new TextEncoder().encode(JSON.stringify(problems)),
          createdBy: person.id,
          ...columnsOf(built),
        },
      })
      const details = { revision: number, draft, baseRevision, digest: row.digest }
      await recordChange(tx, { tenant, person: person.id, action: 'revision.save', subject: sandbox.id, details })
      return { json: revisionText(row) }
    }
    await createOnce(deps, call, res, make, (work) => prisma.$transaction(work, TAKE_TURNS))
  }
}

/** The package as it was when the revision was saved; another runner may build another one when it is activated. */
function columnsOf(built: BuiltPackage | null): Partial<Omit<BuiltPackage, 'runnerVersion'>> {
  if (built === null) return {}
  const { runnerVersion: _, ...columns } = built
  return columns
}

/** Locks the sandbox product until the revision is stored. @throws Refusal `revision_conflict` */
async function nextNumber(tx: Transaction, sandbox: string, base: number | null): Promise<number> {
  const [taken] = await tx.$queryRaw<{ number: number }[]>`
    UPDATE control.sandboxes SET latest_revision = latest_revision + 1
     WHERE id = ${sandbox} AND (${base}::integer IS NULL OR latest_revision = ${base}::integer)
    RETURNING latest_revision AS number`
  if (taken) return taken.number
  const { latestRevision } = await tx.sandbox.findUniqueOrThrow({ where: { id: sandbox } })
  throw conflict(latestRevision)
}

function requireBase(base: number | null, latestRevision: number): void {
  if (base !== null && base !== latestRevision) throw conflict(latestRevision)
}

function conflict(latestRevision: number) {
  return refuse('revision_conflict', { latestRevision }, { details: { latestRevision } })
}
