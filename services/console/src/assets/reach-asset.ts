import type { ConsoleRoutes } from '@gateway/contracts/console-routes'
import { refuse } from '@gateway/contracts/refusal'
import type { Response } from 'express'
import type { ConsoleDeps } from '../deps.ts'
import { mayUseSandboxes } from '../permissions/authorize.ts'
import type { Call } from '../request/call.ts'
import { personOf, type Person } from '../sign-in/person.ts'

type Deps = Pick<ConsoleDeps, 'prisma'>

/**
 * Lets through to the assets of a project who may use its sandbox products; to others there is nothing (rules §7.3).
 * @throws Refusal `not_found`
 */
export async function reachAssetsOf(
  deps: Deps,
  call: Pick<Call<ConsoleRoutes['listAssets']>, 'id'>,
  res: Pick<Response, 'locals'>,
): Promise<{ person: Person; tenant: string; project: string }> {
  const [person, tenant, project] = [personOf(res), call.id('tenant'), call.id('project')]
  if (!(await mayUseSandboxes(deps, person, tenant, project))) throw refuse('not_found', {})
  return { person, tenant, project }
}

/**
 * An asset by its id, for the same people.
 * @throws Refusal `asset_not_found` alike for one that is deleted, of another project, or was never there
 */
export async function reachAsset(
  deps: Deps,
  call: Pick<Call<ConsoleRoutes['readAsset']>, 'id'>,
  res: Pick<Response, 'locals'>,
) {
  const [person, tenant, id] = [personOf(res), call.id('tenant'), call.id('asset')]
  const asset = await deps.prisma.asset.findFirst({ where: { id, deletedAt: null } })
  if (!asset || !(await mayUseSandboxes(deps, person, tenant, asset.project)))
    throw refuse('asset_not_found', { asset: id })
  return { person, tenant, asset }
}
