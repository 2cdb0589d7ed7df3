import type { StoredAssetRecord } from '@gateway/api/console/assets'
import { count } from '../components/usd.ts'
import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query'
import { ask } from '../api/ask.ts'
import type { ProjectScope } from '../api/session.ts'

const kinds: Record<string, string> = {
  'image/png': 'PNG image',
  'image/jpeg': 'JPEG image',
  'image/webp': 'WebP image',
  'audio/wav': 'WAV audio',
  'audio/mpeg': 'MP3 audio',
  'application/pdf': 'PDF file',
}

/** User-facing label of an asset type. */
export function kindOf({ mimeType }: Pick<StoredAssetRecord, 'mimeType'>): string {
  return kinds[mimeType] ?? mimeType
}

/** Formats a size: 48213 is "48.2 kB", 1000000 is "1 MB", 5368709120 is "5.4 GB". */
export function sizeOf(bytes: number): string {
  if (bytes < 1_000) return `${bytes} bytes`
  const [unit, name] = bytes < 999_950 ? [1_000, 'kB'] : bytes < 999_950_000 ? [1_000_000, 'MB'] : [1_000_000_000, 'GB']
  const tenths = Math.round((bytes * 10) / unit)
  return `${count(Math.floor(tenths / 10))}${tenths % 10 === 0 ? '' : `.${tenths % 10}`} ${name}`
}

const PAGE = 24
export const ASSETS = '/api/v2/tenants/{tenant}/projects/{project}/assets'

/** Assets of a project, newest first, page by page. Keeps the current ones while loading. */
export function useAssets(params: ProjectScope, view: AssetsView, enabled: boolean) {
  return useInfiniteQuery({
    queryKey: [ASSETS, params, view],
    queryFn: ({ pageParam: cursor, signal }) =>
      ask('GET', ASSETS, { params, query: { ...view, limit: PAGE, ...(cursor !== '' && { cursor }) }, signal }),
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor,
    placeholderData: keepPreviousData,
    enabled,
  })
}

/** Asset filter in the URL; all assets if omitted. */
interface AssetsView {
  /** Only assets created by this execution. */
  execution?: string
}

export function assetsView({ execution }: Record<string, unknown>): AssetsView {
  return typeof execution === 'string' ? { execution } : {}
}
