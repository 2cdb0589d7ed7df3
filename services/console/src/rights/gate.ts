import { refuse } from '@gateway/contracts/refusal'
import type { Transaction } from '../audit/record-change.ts'
import type { Person } from '../sign-in/person.ts'
import { mayIssueKeys, rights, seesProject, seesTenant, type Right } from './rights.ts'
import { standingInProject, standingInTenant, type ProjectFacts, type Standing } from './standing.ts'

/** Lets a person through who holds a right; each way throws `not_found` for what it can't see, else `not_permitted`. */
export interface Gate {
  /** @throws Refusal `not_permitted` */
  onPlatform(person: Person, right: Right): void
  inTenant(person: Person, tenant: string, right: Right): Promise<Standing>
  inProject(person: Person, tenant: string, project: string, right: Right): Promise<ProjectFacts>
  /**
   * The issuer rule at creation (spec 5.3): whoever lacks one of the three is told so, rather than sent away.
   * @throws Refusal `not_found` to one who has none of them, `key_issuer_denied`
   */
  toIssueKey(person: Person, tenant: string, project: string): Promise<ProjectFacts>
  /** Answers whether a person may read and write the sandbox products of a project; not so where there is no such project. */
  toUseSandboxes(person: Person, tenant: string, project: string): Promise<boolean>
}

export function openGate(needs: { prisma: Transaction }): Gate {
  return {
    onPlatform(person, right) {
      demand({ platformOperator: person.platformOperator, tenant: null, team: null, project: null }, right)
    },
    async inTenant(person, tenant, right) {
      const standing = await standingInTenant(needs, person, tenant)
      if (!standing || !seesTenant(standing)) throw refuse('not_found', {})
      demand(standing, right)
      return standing
    },
    async inProject(person, tenant, projectId, right) {
      const found = await standingInProject(needs, person, tenant, projectId)
      if (!found || !seesProject(found.standing)) throw refuse('not_found', {})
      demand(found.standing, right)
      return found.project
    },
    async toIssueKey(person, tenant, projectId) {
      const found = await standingInProject(needs, person, tenant, projectId)
      if (!found || isStranger(found.standing)) throw refuse('not_found', {})
      if (!mayIssueKeys(found.standing)) throw refuse('key_issuer_denied', { use: false })
      return found.project
    },
    async toUseSandboxes(person, tenant, projectId) {
      const found = await standingInProject(needs, person, tenant, projectId)
      return found !== null && rights['sandboxes.use'].held(found.standing)
    },
  }
}

function demand(standing: Standing, right: Right): void {
  const { need, held } = rights[right]
  if (!held(standing)) throw refuse('not_permitted', { need })
}

function isStranger({ platformOperator, tenant, team, project }: Standing): boolean {
  return !platformOperator && tenant === null && team === null && project === null
}
