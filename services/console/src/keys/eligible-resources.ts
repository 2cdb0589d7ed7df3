import { refuse } from '@gateway/contracts/refusal'
import type { Transaction } from '../audit/record-change.ts'

/**
 * An allowlist names only what the project can reach: published products that are assigned to it, and its own sandbox
 * products (rules §6.4).
 * @throws Refusal `resource_not_eligible` that names every other one
 */
export async function requireEligible(tx: Transaction, project: string, resources: string[]): Promise<void> {
  if (resources.length === 0) return
  const assigned = await tx.assignment.findMany({ where: { project, product: { in: resources } } })
  const published = await tx.product.findMany({
    where: { id: { in: assigned.map(({ product }) => product) }, state: 'published' },
    select: { id: true },
  })
  const sandboxes = await tx.sandbox.findMany({ where: { project, id: { in: resources } }, select: { id: true } })
  const eligible = new Set([...published, ...sandboxes].map(({ id }) => id))
  const others = resources.filter((resource) => !eligible.has(resource))
  if (others.length === 0) return
  const facts = { resources: others }
  throw refuse('resource_not_eligible', facts, { param: 'resources', details: facts })
}
