import type { RequestHandler } from 'express'
import type { z } from 'zod'
import { pageQuery } from '@gateway/contracts/console/page'
import { newSandboxBody, sandboxPatch } from '@gateway/contracts/console/sandboxes'
import { recordChange, type Transaction } from '../audit/record-change.ts'
import type { ConsoleDeps } from '../needs.ts'
import { checkedBody, checkedQuery } from '../receive/check.ts'
import { mapPage, pageOf } from '../receive/page.ts'
import type { Authorize } from '../permissions/authorize.ts'
import type { PassBarrier } from '../permissions/pass-barrier.ts'
import { reachSandbox, reachSandboxesOf } from './reach-sandbox.ts'
import { sandboxRecord, type SandboxRow } from './sandbox-record.ts'

// Admins read the audit and may not read sandbox products (spec 5.6), so it keeps ids and switches, and nothing of what an
// author wrote.

type Deps = Pick<ConsoleDeps, 'prisma' | 'mint'> & { authorize: Authorize; passBarrier: PassBarrier }

/** GET …/projects/{p}/sandboxes: the sandbox products of a project (spec 2.3). */
export function listSandboxes(deps: Deps): RequestHandler {
  return async (req, res) => {
    const { project } = await reachSandboxesOf(deps, req, res)
    const { cursor = '', limit } = checkedQuery(req, pageQuery)
    const rows = await deps.prisma.sandbox.findMany({
      where: { project, id: { gt: cursor } },
      orderBy: { id: 'asc' },
      take: limit + 1,
    })
    res.json(
      mapPage(
        pageOf(rows, limit, ({ id }) => id),
        sandboxRecord,
      ),
    )
  }
}

/** POST …/projects/{p}/sandboxes: an empty one; saving a revision and activating it publishes nothing. */
export function createSandbox(deps: Deps): RequestHandler {
  const { prisma, mint } = deps
  return async (req, res) => {
    const { person, tenant, project } = await reachSandboxesOf(deps, req, res)
    const asked = await checkedBody(req, newSandboxBody)
    const id = mint('sbx').replace('_', '-')
    const sandbox = await prisma.$transaction(async (tx) => {
      const row = await tx.sandbox.create({ data: { id, project, createdBy: person.id, ...asked } })
      const what = { action: 'sandbox.create', subject: id, details: { project, ...switches(row) } }
      await recordChange(tx, { tenant, person: person.id, ...what })
      return row
    })
    res.status(201).json(sandboxRecord(sandbox))
  }
}

/** GET …/sandboxes/{s} */
export function readSandbox(deps: Deps): RequestHandler {
  return async (req, res) => {
    const { sandbox } = await reachSandbox(deps, req, res)
    res.json(sandboxRecord(sandbox))
  }
}

/** PATCH …/sandboxes/{s}: only the fields that are sent. Suspending it answers once no call can be admitted any more. */
export function changeSandbox(deps: Deps): RequestHandler {
  const { prisma, passBarrier } = deps
  return async (req, res) => {
    const { person, tenant, project, sandbox } = await reachSandbox(deps, req, res)
    const patch = await checkedBody(req, sandboxPatch)
    const changed = await prisma.$transaction(async (tx) => {
      const before = await lockSandbox(tx, sandbox.id)
      const after = await tx.sandbox.update({ where: { id: sandbox.id }, data: columnsOf(patch) })
      const details = { fields: Object.keys(patch), before: switches(before), after: switches(after) }
      await recordChange(tx, { tenant, person: person.id, action: 'sandbox.change', subject: sandbox.id, details })
      return after
    })
    if (patch.suspended === true) await passBarrier([project])
    res.json(sandboxRecord(changed))
  }
}

/** Locks a sandbox product and answers how it stands now. */
export async function lockSandbox(tx: Transaction, id: string) {
  await tx.$queryRaw`SELECT FROM control.sandboxes WHERE id = ${id} FOR NO KEY UPDATE`
  return tx.sandbox.findUniqueOrThrow({ where: { id } })
}

/** Only the fields that are sent. */
function columnsOf({ name, description, mcpEnabled, suspended }: z.infer<typeof sandboxPatch>) {
  return {
    ...(name !== undefined && { name }),
    ...(description !== undefined && { description }),
    ...(mcpEnabled !== undefined && { mcpEnabled }),
    ...(suspended !== undefined && { suspended }),
  }
}

function switches({ mcpEnabled, suspended }: SandboxRow) {
  return { mcpEnabled, suspended }
}
