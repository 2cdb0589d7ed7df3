import { refuse } from '@gateway/contracts/refusal'
import type { Transaction } from '../audit/record-change.ts'
import type { Person } from '../sign-in/person.ts'
import { mayIssueKeys, permissions, seesProject, seesTenant, type Permission } from './permissions.ts'
import { rolesInProject, rolesInTenant, type ProjectFacts, type Roles } from './roles.ts'

/** Lets a person through who holds a right; each way throws `not_found` for what it can't see, else `not_permitted`. */
export interface Authorize {
  /** @throws Refusal `not_permitted` */
  onPlatform(person: Person, permission: Permission): void
  inTenant(person: Person, tenant: string, permission: Permission): Promise<Roles>
  inProject(person: Person, tenant: string, project: string, permission: Permission): Promise<ProjectFacts>
  /**
   * The issuer rule at creation (spec 5.3): whoever lacks one of the three is told so, rather than sent away.
   * @throws Refusal `not_found` to one who has none of them, `key_issuer_denied`
   */
  toIssueKey(person: Person, tenant: string, project: string): Promise<ProjectFacts>
  /** Answers whether a person may read and write the sandbox products of a project; not so where there is no such project. */
  toUseSandboxes(person: Person, tenant: string, project: string): Promise<boolean>
}

export function openAuthorize(deps: { prisma: Transaction }): Authorize {
  return {
    onPlatform(person, permission) {
      demand({ platformOperator: person.platformOperator, tenant: null, team: null, project: null }, permission)
    },
    async inTenant(person, tenant, permission) {
      const roles = await rolesInTenant(deps, person, tenant)
      if (!roles || !seesTenant(roles)) throw refuse('not_found', {})
      demand(roles, permission)
      return roles
    },
    async inProject(person, tenant, projectId, permission) {
      const found = await rolesInProject(deps, person, tenant, projectId)
      if (!found || !seesProject(found.roles)) throw refuse('not_found', {})
      demand(found.roles, permission)
      return found.project
    },
    async toIssueKey(person, tenant, projectId) {
      const found = await rolesInProject(deps, person, tenant, projectId)
      if (!found || isStranger(found.roles)) throw refuse('not_found', {})
      if (!mayIssueKeys(found.roles)) throw refuse('key_issuer_denied', { use: false })
      return found.project
    },
    async toUseSandboxes(person, tenant, projectId) {
      const found = await rolesInProject(deps, person, tenant, projectId)
      return found !== null && permissions['sandboxes.use'].held(found.roles)
    },
  }
}

function demand(roles: Roles, permission: Permission): void {
  const { need, held } = permissions[permission]
  if (!held(roles)) throw refuse('not_permitted', { need })
}

function isStranger({ platformOperator, tenant, team, project }: Roles): boolean {
  return !platformOperator && tenant === null && team === null && project === null
}
