import type { StoredAssetRecord } from '@gateway/contracts/console/assets'
import { ApiRefusal } from '../../api/api-refusal.ts'

/** Keeps a file as an asset of the project. @throws ApiRefusal */
export async function uploadAsset(
  { tenant, project }: Record<'tenant' | 'project', string>,
  file: Blob,
  type: string,
): Promise<StoredAssetRecord> {
  const path = `/api/v2/tenants/${encodeURIComponent(tenant)}/projects/${encodeURIComponent(project)}/assets`
  const answer = await fetch(path, { method: 'POST', body: file, headers: { 'Content-Type': type } }).catch(() => null)
  const json: unknown = (await answer?.json().catch(() => null)) ?? null
  if (answer?.ok && json !== null) return json as StoredAssetRecord
  const body = (json as { error?: ConstructorParameters<typeof ApiRefusal>[1] } | null)?.error ?? notSent
  throw new ApiRefusal(answer?.status ?? 0, body, answer?.headers.get('X-Request-Id') ?? null)
}

const notSent = {
  code: 'not_reached',
  message: 'The file could not be sent.',
  resolution: 'Check the connection and choose it again.',
}
