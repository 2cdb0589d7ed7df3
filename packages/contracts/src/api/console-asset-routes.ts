import { assetListQuery, storedAsset } from '../console/assets.ts'
import type { ApiRoute } from './api-route.ts'
import { done, made, page, paged, project, route, tenant } from './console-rows.ts'
import { anyMedia, media, partOf, range } from './flow-routes.ts'

const asset = `${tenant}/assets/{asset}` as const
const assets = route('Assets of a project')

/** What Project Owners and Consumers do with images and sounds; to others there are none. */
export const consoleAssetRoutes = {
  uploadAsset: assets('POST', `${project}/assets`, 'Upload an image or a sound', made(storedAsset), {
    bytes: media,
    refusals: ['invalid_request', 'request_too_large'],
    description: 'The body is the file as it is, at most 25,000,000 bytes, and Content-Type says what it is.',
  }),
  listAssets: assets('GET', `${project}/assets`, 'List assets, newest first', page(storedAsset), {
    ...paged,
    query: assetListQuery,
  }),
  readAsset: assets(
    'GET',
    asset,
    'Read the bytes of an asset',
    { 200: { description: 'All of them', also: anyMedia }, 206: partOf(anyMedia) },
    { headers: range, refusals: ['asset_not_found', 'range_not_satisfiable'] },
  ),
  deleteAsset: assets('DELETE', asset, 'Delete an asset', done, {
    refusals: ['asset_not_found'],
    description:
      'From then on nobody can read it or name it in a new call. Executions in progress keep it; records go on naming it.',
  }),
} as const satisfies Record<string, ApiRoute>
