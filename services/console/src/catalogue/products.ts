import type { RequestHandler } from 'express'
import { pageQuery } from '@gateway/contracts/console/page'
import { type ProductKind, newProductBody, productPatch } from '@gateway/contracts/console/products'
import { refuse } from '@gateway/contracts/refusal'
import { recordChange } from '../audit/record-change.ts'
import type { ConsoleDeps } from '../needs.ts'
import { checkedBody, checkedQuery, pathIdOf } from '../receive/check.ts'
import { mapPage, pageOf } from '../receive/page.ts'
import type { Authorize } from '../permissions/authorize.ts'
import type { PassBarrier } from '../permissions/pass-barrier.ts'
import { personOf } from '../sign-in/person.ts'
import { pricingOf } from './pricing.ts'
import { columnsOfNew, columnsOfPatch, productRecord, type ProductRow } from './product-columns.ts'

type Deps = Pick<ConsoleDeps, 'prisma'> & { authorize: Authorize; passBarrier: PassBarrier }

/** GET /api/v2/products: what is published; the platform operator sees drafts, suspended products and providers too. */
export function listProducts({ prisma }: Deps): RequestHandler {
  return async (req, res) => {
    const { platformOperator } = personOf(res)
    const { cursor = '', limit } = checkedQuery(req, pageQuery)
    const rows = await prisma.product.findMany({
      where: { id: { gt: cursor }, ...(!platformOperator && { state: 'published' }) },
      orderBy: { id: 'asc' },
      take: limit + 1,
    })
    res.json(
      mapPage(
        pageOf(rows, limit, ({ id }) => id),
        (row) => productRecord(row, platformOperator),
      ),
    )
  }
}

/** POST /api/v2/products */
export function createProduct({ prisma, authorize }: Deps): RequestHandler {
  return async (req, res) => {
    const person = personOf(res)
    authorize.onPlatform(person, 'products.manage')
    const columns = columnsOfNew(await checkedBody(req, newProductBody))
    const { id } = columns
    const product = await prisma.$transaction(async (tx) => {
      const { count } = await tx.product.createMany({ data: [columns], skipDuplicates: true })
      if (count === 0) throw refuse('already_exists', { what: `The product ${id}` }, { param: 'id' })
      const created = await tx.product.findUniqueOrThrow({ where: { id } })
      const what = { action: 'product.create', subject: id, details: weighty(created) }
      await recordChange(tx, { tenant: null, person: person.id, ...what })
      return created
    })
    res.status(201).json(productRecord(product, true))
  }
}

/** PATCH /api/v2/products/{id}: only the fields that are sent. Taking it from publication revokes it everywhere. */
export function changeProduct({ prisma, authorize, passBarrier }: Deps): RequestHandler {
  return async (req, res) => {
    const person = personOf(res)
    authorize.onPlatform(person, 'products.manage')
    const id = pathIdOf(req, 'product')
    const patch = await checkedBody(req, productPatch)
    const product = await prisma.$transaction(async (tx) => {
      await tx.$queryRaw`SELECT FROM control.products WHERE id = ${id} FOR UPDATE`
      const before = await tx.product.findUnique({ where: { id } })
      if (!before) throw refuse('not_found', {})
      const after = await tx.product.update({ where: { id }, data: columnsOfPatch(before.kind as ProductKind, patch) })
      const details = { fields: Object.keys(patch), before: weighty(before), after: weighty(after) }
      await recordChange(tx, { tenant: null, person: person.id, action: 'product.change', subject: id, details })
      return after
    })
    if (patch.state !== undefined && patch.state !== 'published') {
      const assigned = await prisma.assignment.findMany({ where: { product: id }, select: { project: true } })
      await passBarrier(assigned.map(({ project }) => project))
    }
    res.json(productRecord(product, true))
  }
}

/** What the audit keeps of a product: who may call it, and for how much. */
function weighty(row: ProductRow) {
  return { state: row.state, pricing: { ...pricingOf(row) } }
}
