import type { Transaction } from '../audit/record-change.ts'
import { ACCESS_TOKEN } from '../sign-in/person.ts'

// Sandbox products are for Project Owners and Consumers alone (flows §1.2). Others manage keys and read the audit: there
// the id of one is a word that is the same for all of them.

/** Stands for the id of a sandbox product that the reader may not use. */
export const HIDDEN_SANDBOX = 'sbx-…'

/** Which of these projects have sandbox products that a member, or a token, may use. */
export async function projectsOpenTo(prisma: Transaction, person: string, projects: string[]): Promise<Set<string>> {
  if (person.startsWith(ACCESS_TOKEN)) return projectsOfToken(prisma, person, projects)
  const grants = await prisma.projectGrant.findMany({
    where: { person, project: { in: projects }, role: { in: ['Project Owner', 'Project Consumer'] } },
    select: { project: true },
  })
  return new Set(grants.map(({ project }) => project))
}

async function projectsOfToken(prisma: Transaction, token: string, projects: string[]): Promise<Set<string>> {
  const found = await prisma.accessToken.findFirst({ where: { id: token, permissions: { has: 'sandboxes.use' } } })
  return new Set(projects.filter((project) => project === found?.project))
}

/** Which of these sandbox products a member may use. */
export async function sandboxesOpenTo(prisma: Transaction, person: string, sandboxes: string[]): Promise<Set<string>> {
  const rows = await prisma.sandbox.findMany({ where: { id: { in: sandboxes } }, select: { id: true, project: true } })
  const open = await projectsOpenTo(
    prisma,
    person,
    rows.map(({ project }) => project),
  )
  return new Set(rows.filter(({ project }) => open.has(project)).map(({ id }) => id))
}

/** An allowlist without the ids of sandbox products: that it names some is still seen. */
export function hideSandboxes(resources: string[]): string[] {
  const others = resources.filter((id) => !id.startsWith('sbx-'))
  return others.length === resources.length ? resources : [...others, HIDDEN_SANDBOX]
}
