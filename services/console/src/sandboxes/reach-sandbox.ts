import type { Request, Response } from 'express'
import { refuse } from '@gateway/contracts/refusal'
import type { ConsoleDeps } from '../needs.ts'
import { pathIdOf } from '../receive/check.ts'
import type { Authorize } from '../permissions/authorize.ts'
import { personOf, type Person } from '../sign-in/person.ts'
import type { SandboxRow } from './sandbox-record.ts'

type Deps = Pick<ConsoleDeps, 'prisma'> & { authorize: Authorize }

export interface ReachedProject {
  person: Person
  tenant: string
  project: string
}

/**
 * The project of the path, for whoever may use its sandbox products. To everybody else, Admins and team owners among them,
 * it has none (spec 5.6).
 * @throws Refusal `not_found`
 */
export async function reachSandboxesOf({ authorize }: Deps, req: Request, res: Response): Promise<ReachedProject> {
  const person = personOf(res)
  const [tenant, project] = [pathIdOf(req, 'tenant'), pathIdOf(req, 'project')]
  if (await authorize.toUseSandboxes(person, tenant, project)) return { person, tenant, project }
  throw refuse('not_found', {})
}

/**
 * The sandbox product of the path. One that the person may not use answers as one that never was.
 * @throws Refusal `sandbox_not_found`
 */
export async function reachSandbox(
  { prisma, authorize }: Deps,
  req: Request,
  res: Response,
): Promise<ReachedProject & { sandbox: SandboxRow }> {
  const person = personOf(res)
  const [tenant, id] = [pathIdOf(req, 'tenant'), pathIdOf(req, 'sandbox')]
  const sandbox = await prisma.sandbox.findUnique({ where: { id } })
  if (sandbox && (await authorize.toUseSandboxes(person, tenant, sandbox.project)))
    return { person, tenant, project: sandbox.project, sandbox }
  throw refuse('sandbox_not_found', { sandbox: id })
}
