import { useQuery } from '@tanstack/react-query'
import { readingAll } from '../api/queries.ts'
import { useScope } from '../api/session.ts'

/** All catalogue products, and those assigned to the project. */
export function useCatalogue() {
  const params = useScope()
  const assigned = useQuery(readingAll('/api/v2/tenants/{tenant}/projects/{project}/assignments', { params }))
  const products = useQuery(readingAll('/api/v2/products', { params: {} }))
  return {
    error: assigned.error ?? products.error,
    products: products.data,
    assigned: assigned.data && new Set(assigned.data.map(({ product }) => product)),
  }
}
