import { getAll } from './api.js'

// Ids as people know them, where I may know it; every list is of use without.

export const memberNames = ({ tenantPath }) => names(`${tenantPath}/members`)

export const keyNames = ({ tenantPath, project }) => names(`${tenantPath}/keys?project=${encodeURIComponent(project)}`)

async function names(path) {
  const rows = await getAll(path).catch(() => [])
  return new Map(rows.map(({ id, name }) => [id, name]))
}
