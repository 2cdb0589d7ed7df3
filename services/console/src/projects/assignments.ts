import type { AssignmentRecord } from '@gateway/api/console/projects'
import { refuse } from '@gateway/api/refusal'
import { recordChange } from '../audit/record-change.ts'
import type { ConsoleDeps } from '../deps.ts'
import type { Handler } from '../request/call.ts'
import { pageOf } from '../request/page.ts'
import { inProject, passBarrier } from '../permissions/authorize.ts'

type Deps = Pick<ConsoleDeps, 'prisma' | 'ledger'>

/** GET …/projects/{p}/assignments: products assigned to the project. */
export function listAssignments(deps: Deps): Handler<'listAssignments'> {
  const { prisma } = deps
  return async (call, res) => {
    const { project } = await inProject(deps.prisma, call, res, 'assignments.read')
    const { cursor = '', limit } = call.query()
    const rows = await prisma.assignment.findMany({
      where: { project, product: { gt: cursor } },
      orderBy: { product: 'asc' },
      take: limit + 1,
    })
    res.json(pageOf(rows.map(assignmentRecord), limit, ({ product }) => product))
  }
}

/** PUT …/projects/{p}/assignments/{product}: assigns a published product to the project. Idempotent. */
export function assignProduct(deps: Deps): Handler<'assignProduct'> {
  const { prisma } = deps
  return async (call, res) => {
    const { user: by, tenant, project } = await inProject(deps.prisma, call, res, 'assignments.manage')
    const product = call.id('product')
    const made = await prisma.$transaction(async (tx) => {
      const before = await tx.assignment.findUnique({ where: { project_product: { project, product } } })
      if (before) return { row: before, isNew: false }
      if (!(await tx.product.findFirst({ where: { id: product, state: 'published' } }))) throw refuse('not_found', {})
      await tx.assignment.createMany({ data: [{ project, product, createdBy: by.id }], skipDuplicates: true })
      const row = await tx.assignment.findUniqueOrThrow({ where: { project_product: { project, product } } })
      const what = { action: 'product.assign' as const, subject: project, details: { product } }
      await recordChange(tx, { tenant, user: by.id, ...what })
      return { row, isNew: true }
    })
    res.status(made.isNew ? 201 : 200).json(assignmentRecord(made.row))
  }
}

/** DELETE …/projects/{p}/assignments/{product} */
export function unassignProduct(deps: Deps): Handler<'unassignProduct'> {
  const { prisma } = deps
  return async (call, res) => {
    const { user: by, tenant, project } = await inProject(deps.prisma, call, res, 'assignments.manage')
    const product = call.id('product')
    const removed = await prisma.$transaction(async (tx) => {
      const { count } = await tx.assignment.deleteMany({ where: { project, product } })
      if (count === 0) return false
      const what = { action: 'product.unassign' as const, subject: project, details: { product } }
      await recordChange(tx, { tenant, user: by.id, ...what })
      return true
    })
    await passBarrier(deps, [project])
    if (!removed) throw refuse('not_found', {})
    res.status(204).end()
  }
}

function assignmentRecord(row: { product: string; createdBy: string | null; createdAt: Date }): AssignmentRecord {
  const { product, createdBy, createdAt } = row
  return { product, createdBy, createdAt: createdAt.toISOString() }
}
