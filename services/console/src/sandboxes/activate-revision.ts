import type { Graph } from '@gateway/contracts/graph'
import { refuse, Refusal } from '@gateway/contracts/refusal'
import { recordChange } from '../audit/record-change.ts'
import { databaseNow } from '../keys/database-now.ts'
import type { ConsoleDeps } from '../deps.ts'
import type { Handler } from '../request/call.ts'
import { checkGraph, requireNoProblems } from './check-graph.ts'
import { reachSandbox } from './reach-sandbox.ts'
import { revisionNumberOf } from './read-graph.ts'
import { textOf } from './revision-record.ts'
import { sandboxRecord } from './sandbox-record.ts'
import { lockSandbox } from './sandboxes.ts'

type Deps = Pick<ConsoleDeps, 'prisma' | 'log'>

/**
 * POST …/sandboxes/{s}/revisions/{n}/activate: from now on this revision answers external calls (flows §3.2). The whole
 * graph
 * is checked again against the products that are assigned now, its package is built again, and both are deployed in one
 * transaction: whatever fails, the revision that was active still is. Executions in progress keep the one they began with.
 * @throws Refusal `graph_invalid`, `product_not_assigned`, `activation_failed`
 */
export function activateRevision(deps: Deps): Handler<'activateRevision'> {
  const { prisma, log } = deps
  return async (call, res) => {
    const { person, tenant, project, sandbox } = await reachSandbox(deps, call, res)
    const where = { sandbox_number: { sandbox: sandbox.id, number: revisionNumberOf(call.req.params['number']) } }
    const saved = await prisma.revision.findUnique({ where })
    if (!saved) throw refuse('not_found', {})
    const graph = JSON.parse(textOf(saved.graph)) as Graph

    const deployed = await prisma
      .$transaction(async (tx) => {
        const before = await lockSandbox(tx, sandbox.id)
        const { problems, columns } = await checkGraph(tx, project, graph)
        requireNoProblems(problems, graph)
        const noProblems = new TextEncoder().encode('[]')
        await tx.revision.update({ where, data: { ...columns, problems: noProblems } })
        const active = { activeRevision: saved.number, activatedAt: await databaseNow(tx) }
        const after = await tx.sandbox.update({ where: { id: sandbox.id }, data: active })
        const details = { revision: saved.number, digest: columns.digest, before: before.activeRevision }
        await recordChange(tx, { tenant, person: person.id, action: 'revision.activate', subject: sandbox.id, details })
        return after
      })
      .catch((error: unknown) => {
        if (error instanceof Refusal) throw error
        log.error({ err: error, sandbox: sandbox.id, revision: saved.number }, 'a revision could not be deployed')
        throw refuse('activation_failed', {})
      })
    res.json(sandboxRecord(deployed))
  }
}
