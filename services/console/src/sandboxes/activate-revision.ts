import type { Graph, GraphProblem } from '@gateway/contracts/graph'
import { refuse, Refusal } from '@gateway/contracts/refusal'
import { recordChange } from '../audit/record-change.ts'
import { databaseNow } from '../keys/database-now.ts'
import type { ConsoleDeps } from '../deps.ts'
import type { Handler } from '../request/call.ts'
import { checkGraph } from './check-graph.ts'
import { reachSandbox } from './reach-sandbox.ts'
import { revisionNumberOf } from './read-graph.ts'
import { textOf } from './revision-record.ts'
import { sandboxRecord } from './sandbox-record.ts'
import { lockSandbox } from './sandboxes.ts'

type Deps = Pick<ConsoleDeps, 'prisma' | 'log'>

/**
 * POST …/sandboxes/{s}/revisions/{n}/activate: from now on this revision answers external calls (flows §3.2). The whole graph is
 * checked again against the products that are assigned now, its package is built, and both are deployed in one transaction:
 * whatever fails, the revision that was active still is. The revision itself stays as it was saved: the package is a record of
 * its own. Executions in progress keep the one they began with.
 * @throws Refusal `graph_invalid`, `product_not_assigned`, `activation_failed`
 */
export function activateRevision(deps: Deps): Handler<'activateRevision'> {
  const { prisma, log } = deps
  return async (call, res) => {
    const { person, tenant, project, sandbox } = await reachSandbox(deps, call, res)
    const revision = revisionNumberOf(call.req.params['number'])
    const saved = await prisma.revision.findUnique({
      where: { sandbox_number: { sandbox: sandbox.id, number: revision } },
      select: { graph: true },
    })
    if (!saved) throw refuse('not_found', {})
    const graph = JSON.parse(textOf(saved.graph)) as Graph

    const deployed = await prisma
      .$transaction(async (tx) => {
        const before = await lockSandbox(tx, sandbox.id)
        const { problems, built } = await checkGraph(tx, project, graph)
        if (built === null) throw refusalOf(problems, graph)
        await tx.package.createMany({ data: [{ sandbox: sandbox.id, revision, ...built }], skipDuplicates: true })
        const { digest } = built
        const active = { activeRevision: revision, activeDigest: digest, activatedAt: await databaseNow(tx) }
        const after = await tx.sandbox.update({ where: { id: sandbox.id }, data: active })
        const details = { revision, digest, before: before.activeRevision }
        await recordChange(tx, { tenant, person: person.id, action: 'revision.activate', subject: sandbox.id, details })
        return sandboxRecord(tx, after)
      })
      .catch((error: unknown) => {
        if (error instanceof Refusal) throw error
        log.error({ err: error, sandbox: sandbox.id, revision }, 'a revision could not be deployed')
        throw refuse('activation_failed', {})
      })
    res.json(deployed)
  }
}

/** `product_not_assigned` where nothing else is wrong, else `graph_invalid` with every problem. */
function refusalOf(problems: GraphProblem[], graph: Graph): Refusal {
  const details = { problems }
  if (problems.every(({ code }) => code === 'product_not_assigned')) {
    const node = graph.nodes.find(({ id }) => id === problems[0]?.node)
    return refuse('product_not_assigned', { product: String(node?.['product']) }, { details })
  }
  return refuse('graph_invalid', { problems }, { param: 'graph', details })
}
