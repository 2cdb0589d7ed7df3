import type { z } from 'zod'
import { sandboxPatch } from '@gateway/api/console/sandboxes'
import { recordChange, type Transaction } from '../audit/record-change.ts'
import type { ConsoleDeps } from '../deps.ts'
import { requireQuota } from '../projects/quotas.ts'
import type { Handler } from '../request/call.ts'
import { createOnce } from '../request/create-once.ts'
import { idsAfter, pageOf } from '../request/page.ts'
import { reachSandbox, reachSandboxesOf } from './reach-sandbox.ts'
import { sandboxRecord, sandboxRecords, type SandboxRow } from './sandbox-record.ts'
import { passBarrier } from '../permissions/authorize.ts'

// Admins can read the audit but not sandbox products (flows §1.2), so audit rows contain ids and flags, and nothing
// that an author wrote.

type Deps = Pick<ConsoleDeps, 'prisma' | 'newId' | 'ledger' | 'quotas'>

/** GET …/projects/{p}/sandboxes: the sandbox products of a project (flows §1). */
export function listSandboxes(deps: Deps): Handler<'listSandboxes'> {
  return async (call, res) => {
    const { project } = await reachSandboxesOf(deps.prisma, call, res)
    const { cursor, limit } = call.query()
    const rows = await deps.prisma.sandbox.findMany({
      where: { project, id: idsAfter(cursor, 'sbx-') },
      orderBy: { id: 'desc' },
      take: limit + 1,
    })
    res.json(pageOf(await sandboxRecords(deps.prisma, rows), limit, ({ id }) => id))
  }
}

/**
 * POST …/projects/{p}/sandboxes: creates an empty sandbox product. Saving and activating a revision publishes nothing.
 */
export function createSandbox(deps: Deps): Handler<'createSandbox'> {
  const { newId } = deps
  return async (call, res) => {
    const { user, tenant, project } = await reachSandboxesOf(deps.prisma, call, res)
    const fields = await call.body()
    const id = newId('sbx').replace('_', '-')
    await createOnce(deps, call, res, async (tx) => {
      await requireQuota(tx, deps.quotas, project, 'flows')
      const row = await tx.sandbox.create({ data: { id, project, createdBy: user.id, ...fields } })
      const what = { action: 'sandbox.create' as const, subject: id, details: { project, ...switches(row) } }
      await recordChange(tx, { tenant, user: user.id, ...what })
      return { body: await sandboxRecord(tx, row) }
    })
  }
}

/** GET …/sandboxes/{s} */
export function readSandbox(deps: Deps): Handler<'readSandbox'> {
  return async (call, res) => {
    const { sandbox } = await reachSandbox(deps.prisma, call, res)
    res.json(await sandboxRecord(deps.prisma, sandbox))
  }
}

/** PATCH …/sandboxes/{s}: changes only the fields sent. Suspending responds once no further call can be admitted. */
export function changeSandbox(deps: Deps): Handler<'changeSandbox'> {
  const { prisma } = deps
  return async (call, res) => {
    const { user, tenant, project, sandbox } = await reachSandbox(deps.prisma, call, res)
    const patch = await call.body()
    const changed = await prisma.$transaction(async (tx) => {
      const before = await lockSandbox(tx, sandbox.id)
      const after = await tx.sandbox.update({ where: { id: sandbox.id }, data: columnsOf(patch) })
      const details = { fields: Object.keys(patch), before: switches(before), after: switches(after) }
      await recordChange(tx, { tenant, user: user.id, action: 'sandbox.change', subject: sandbox.id, details })
      return after
    })
    if (patch.suspended === true) await passBarrier(deps, [project])
    res.json(await sandboxRecord(prisma, changed))
  }
}

/** Locks a sandbox product and returns its current row. */
export async function lockSandbox(tx: Transaction, id: string) {
  await tx.$queryRaw`SELECT FROM control.sandboxes WHERE id = ${id} FOR NO KEY UPDATE`
  return tx.sandbox.findUniqueOrThrow({ where: { id } })
}

/** Columns of the fields that were sent. */
function columnsOf({ name, description, tags, mcpEnabled, suspended }: z.infer<typeof sandboxPatch>) {
  return {
    ...(name !== undefined && { name }),
    ...(description !== undefined && { description }),
    ...(tags !== undefined && { tags }),
    ...(mcpEnabled !== undefined && { mcpEnabled }),
    ...(suspended !== undefined && { suspended }),
  }
}

function switches({ mcpEnabled, suspended }: SandboxRow) {
  return { mcpEnabled, suspended }
}
