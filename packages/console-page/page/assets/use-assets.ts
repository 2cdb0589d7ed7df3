import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query'
import { ask } from '../api/ask.ts'
import type { ProjectScope } from '../api/use-project.ts'
import type { AssetsView } from './assets-view.ts'

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
