import { getAll } from './api.js'

/** The sandbox products of a project; none for whoever may not use them. */
export const sandboxesOf = ({ path }) => getAll(`${path}/sandboxes`).catch(() => [])

/** The published products that are assigned to a project: what its keys can be narrowed to, besides its sandbox products. */
export async function modelsOf({ path }) {
  const [assigned, products] = await Promise.all([getAll(`${path}/assignments`), getAll('/api/v2/products')])
  const ids = new Set(assigned.map(({ product }) => product))
  return products.filter(({ id, state }) => ids.has(id) && state === 'published')
}
