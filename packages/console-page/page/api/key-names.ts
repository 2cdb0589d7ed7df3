import { queryOptions } from '@tanstack/react-query'
import { MAX_IDS } from '@gateway/api/limits'
import { ask } from './ask.ts'

const KEYS = '/api/v2/tenants/{tenant}/keys'

/** `useQuery` options that read the name of a key. The ID if the user can't see it. */
export function readingKeyName(tenant: string, id: string) {
  return queryOptions({
    queryKey: [KEYS, { tenant }, { ids: id }, 'name'],
    queryFn: async () => (await namesWith(tenant, id)).get(id) ?? id,
  })
}

interface Batch {
  ids: Set<string>
  names: Promise<Map<string, string>>
}

const gathering = new Map<string, Batch>()

/** Names of this key and of all others that are asked for at the same time, in one request for each 100. */
function namesWith(tenant: string, id: string): Promise<Map<string, string>> {
  const batch = gathering.get(tenant) ?? newBatch(tenant)
  batch.ids.add(id)
  return batch.names
}

function newBatch(tenant: string): Batch {
  const ids = new Set<string>()
  const names = Promise.resolve().then(() => {
    gathering.delete(tenant)
    return readNames(tenant, [...ids])
  })
  const batch = { ids, names }
  gathering.set(tenant, batch)
  return batch
}

async function readNames(tenant: string, ids: string[]): Promise<Map<string, string>> {
  const parts = Array.from({ length: Math.ceil(ids.length / MAX_IDS) }, (_, n) =>
    ids.slice(n * MAX_IDS, (n + 1) * MAX_IDS),
  )
  const pages = await Promise.all(
    parts.map((part) => ask('GET', KEYS, { params: { tenant }, query: { ids: part.join(','), limit: MAX_IDS } })),
  )
  return new Map(pages.flatMap(({ data }) => data.map(({ id, name }) => [id, name] as const)))
}
