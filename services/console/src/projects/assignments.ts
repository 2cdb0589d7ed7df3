import type { RequestHandler } from 'express'
import { pageQuery } from '@gateway/contracts/console/page'
import type { AssignmentRecord } from '@gateway/contracts/console/projects'
import { refuse } from '@gateway/contracts/refusal'
import { recordChange } from '../audit/record-change.ts'
import type { ConsoleDeps } from '../needs.ts'
import { checkedQuery, pathIdOf } from '../receive/check.ts'
import { mapPage, pageOf } from '../receive/page.ts'
import type { Authorize } from '../permissions/authorize.ts'
import type { PassBarrier } from '../permissions/pass-barrier.ts'
import { personOf } from '../sign-in/person.ts'

type Deps = Pick<ConsoleDeps, 'prisma'> & { authorize: Authorize; passBarrier: PassBarrier }

/** GET …/projects/{p}/assignments: the products that the project can use. */
export function listAssignments({ prisma, authorize }: Deps): RequestHandler {
  return async (req, res) => {
    const tenant = pathIdOf(req, 'tenant')
    const { id: project } = await authorize.inProject(
      personOf(res),
      tenant,
      pathIdOf(req, 'project'),
      'assignments.read',
    )
    const { cursor = '', limit } = checkedQuery(req, pageQuery)
    const rows = await prisma.assignment.findMany({
      where: { project, product: { gt: cursor } },
      orderBy: { product: 'asc' },
      take: limit + 1,
    })
    res.json(
      mapPage(
        pageOf(rows, limit, ({ product }) => product),
        assignmentRecord,
      ),
    )
  }
}

/** PUT …/projects/{p}/assignments/{product}: lets the project use a published product. Safe to repeat. */
export function assignProduct({ prisma, authorize }: Deps): RequestHandler {
  return async (req, res) => {
    const by = personOf(res)
    const tenant = pathIdOf(req, 'tenant')
    const { id: project } = await authorize.inProject(by, tenant, pathIdOf(req, 'project'), 'assignments.manage')
    const product = pathIdOf(req, 'product')
    const made = await prisma.$transaction(async (tx) => {
      const before = await tx.assignment.findUnique({ where: { project_product: { project, product } } })
      if (before) return { row: before, isNew: false }
      if (!(await tx.product.findFirst({ where: { id: product, state: 'published' } }))) throw refuse('not_found', {})
      await tx.assignment.createMany({ data: [{ project, product, createdBy: by.id }], skipDuplicates: true })
      const row = await tx.assignment.findUniqueOrThrow({ where: { project_product: { project, product } } })
      const what = { action: 'product.assign', subject: project, details: { product } }
      await recordChange(tx, { tenant, person: by.id, ...what })
      return { row, isNew: true }
    })
    res.status(made.isNew ? 201 : 200).json(assignmentRecord(made.row))
  }
}

/** DELETE …/projects/{p}/assignments/{product} */
export function unassignProduct({ prisma, authorize, passBarrier }: Deps): RequestHandler {
  return async (req, res) => {
    const by = personOf(res)
    const tenant = pathIdOf(req, 'tenant')
    const { id: project } = await authorize.inProject(by, tenant, pathIdOf(req, 'project'), 'assignments.manage')
    const product = pathIdOf(req, 'product')
    const removed = await prisma.$transaction(async (tx) => {
      const { count } = await tx.assignment.deleteMany({ where: { project, product } })
      if (count === 0) return false
      const what = { action: 'product.unassign', subject: project, details: { product } }
      await recordChange(tx, { tenant, person: by.id, ...what })
      return true
    })
    await passBarrier([project])
    if (!removed) throw refuse('not_found', {})
    res.status(204).end()
  }
}

function assignmentRecord(row: { product: string; createdBy: string | null; createdAt: Date }): AssignmentRecord {
  const { product, createdBy, createdAt } = row
  return { product, createdBy, createdAt: createdAt.toISOString() }
}
