import type { Response } from 'express'
import type { ConsoleRoutes } from '@gateway/api/console-routes'
import { refuse } from '@gateway/api/refusal'
import type { Transaction } from '../audit/record-change.ts'
import type { Call } from '../request/call.ts'
import { userOf, type User } from '../sign-in/user.ts'
import type { SandboxRow } from './sandbox-record.ts'
import { mayUseSandboxes } from '../permissions/authorize.ts'

export interface ReachedProject {
  user: User
  tenant: string
  project: string
}

/**
 * Returns the project of the path to users who may use its sandbox products. To everyone else, including Admins and
 * Team Owners, they don't exist (flows §1.2).
 * @throws Refusal `not_found`
 */
export async function reachSandboxesOf(
  prisma: Transaction,
  call: Pick<Call<ConsoleRoutes['listSandboxes']>, 'id'>,
  res: Pick<Response, 'locals'>,
): Promise<ReachedProject> {
  const user = userOf(res)
  const [tenant, project] = [call.id('tenant'), call.id('project')]
  if (await mayUseSandboxes(prisma, user, tenant, project)) return { user, tenant, project }
  throw refuse('not_found', {})
}

/**
 * Returns the sandbox product of the path. One that the user may not use looks the same as one that never existed.
 * @throws Refusal `sandbox_not_found`
 */
export async function reachSandbox(
  prisma: Transaction,
  call: Pick<Call<ConsoleRoutes['readSandbox']>, 'id'>,
  res: Pick<Response, 'locals'>,
): Promise<ReachedProject & { sandbox: SandboxRow }> {
  const user = userOf(res)
  const [tenant, id] = [call.id('tenant'), call.id('sandbox')]
  const sandbox = await prisma.sandbox.findUnique({ where: { id } })
  if (sandbox && (await mayUseSandboxes(prisma, user, tenant, sandbox.project)))
    return { user, tenant, project: sandbox.project, sandbox }
  throw refuse('sandbox_not_found', { sandbox: id })
}
