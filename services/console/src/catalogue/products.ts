import type { BodyOf } from '@gateway/api/api-route'
import type { ConsoleRoutes } from '@gateway/api/console-routes'
import { type ProductKind } from '@gateway/api/console/products'
import { refuse } from '@gateway/api/refusal'
import { recordChange } from '../audit/record-change.ts'
import type { ConsoleDeps } from '../deps.ts'
import type { Handler } from '../request/call.ts'
import { createOnce } from '../request/create-once.ts'
import { pageOf } from '../request/page.ts'
import { userOf } from '../sign-in/user.ts'
import { composePricing } from '@gateway/ledger-protocol/compose-invocation'
import {
  columnsOfNew,
  columnsOfPatch,
  productRecord,
  type ProductRow,
  requireRoomForPrompt,
} from './product-columns.ts'
import { authorizeOnPlatform, passBarrier, requireMembership } from '../permissions/authorize.ts'

type Deps = Pick<ConsoleDeps, 'prisma' | 'ledger'>

/**
 * GET /api/v2/products: published products, for members of any organization. The platform operator also sees drafts,
 * suspended products and the fields that reveal providers.
 */
export function listProducts({ prisma }: Deps): Handler<'listProducts'> {
  return async (call, res) => {
    const user = userOf(res)
    const { platformOperator } = user
    if (!platformOperator) await requireMembership(prisma, user)
    const { cursor = '', limit } = call.query()
    const rows = await prisma.product.findMany({
      where: { id: { gt: cursor }, ...(!platformOperator && { state: 'published' }) },
      orderBy: { id: 'asc' },
      take: limit + 1,
    })
    res.json(
      pageOf(
        rows.map((row) => productRecord(row, platformOperator)),
        limit,
        ({ id }) => id,
      ),
    )
  }
}

/** POST /api/v2/products */
export function createProduct(deps: Deps): Handler<'createProduct'> {
  return async (call, res) => {
    const user = userOf(res)
    authorizeOnPlatform(user, 'products.manage')
    const columns = columnsOfNew(await call.body())
    requireRoomForPrompt(columns)
    const { id } = columns
    await createOnce(deps, call, res, async (tx) => {
      const { count } = await tx.product.createMany({ data: [columns], skipDuplicates: true })
      if (count === 0) throw refuse('already_exists', { what: `The product ${id}` }, { param: 'id' })
      const created = await tx.product.findUniqueOrThrow({ where: { id } })
      const what = { action: 'product.create' as const, subject: id, details: weighty(created) }
      await recordChange(tx, { tenant: null, user: user.id, ...what })
      return { body: productRecord(created, true) }
    })
  }
}

/** PATCH /api/v2/products/{id}: changes only the fields sent. Unpublishing a product revokes it everywhere. */
export function changeProduct(deps: Deps): Handler<'changeProduct'> {
  const { prisma } = deps
  return async (call, res) => {
    const user = userOf(res)
    authorizeOnPlatform(user, 'products.manage')
    const id = call.id('product')
    const patch = await call.body()
    const product = await prisma.$transaction(async (tx) => {
      await tx.$queryRaw`SELECT FROM control.products WHERE id = ${id} FOR UPDATE`
      const before = await tx.product.findUnique({ where: { id } })
      if (!before) throw refuse('not_found', {})
      const data = columnsOfPatch(before.kind as ProductKind, patch)
      if (isSizedOrPublished(patch)) requireRoomForPrompt({ ...before, ...data })
      const after = await tx.product.update({ where: { id }, data })
      const details = { fields: Object.keys(patch), before: weighty(before), after: weighty(after) }
      await recordChange(tx, { tenant: null, user: user.id, action: 'product.change', subject: id, details })
      return after
    })
    if (patch.state !== undefined && patch.state !== 'published') {
      const assigned = await prisma.assignment.findMany({ where: { product: id }, select: { project: true } })
      await passBarrier(
        deps,
        assigned.map(({ project }) => project),
      )
    }
    res.json(productRecord(product, true))
  }
}

/** A product without room for a prompt can still be changed otherwise, and suspended. */
function isSizedOrPublished({
  contextLength,
  maxOutputTokens,
  state,
}: BodyOf<ConsoleRoutes['changeProduct']>): boolean {
  return contextLength !== undefined || maxOutputTokens !== undefined || state === 'published'
}

/** Product fields recorded in the audit: state, price, providers with what they charge, and the factor of reservations. */
function weighty(row: ProductRow) {
  const { state, providers } = row
  return { state, pricing: { ...composePricing(row) }, providers, factor: row.factorMillionths / 1_000_000 }
}
