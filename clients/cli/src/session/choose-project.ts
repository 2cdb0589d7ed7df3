import type { ApiClient } from '@gateway/api-client/open-api-client'
import { CommandFailure } from '../frame/command-failure.ts'

/** Each by its id or its name. */
export interface ProjectChoice {
  organization?: string | undefined
  project?: string | undefined
}
interface Named {
  id: string
  name: string
}

/**
 * Chooses the organization and the project. Ids are passed on unchanged, and the service validates them. Otherwise it
 * is the only one that the caller has, or the one of that name.
 * @param isWhole for the whole organization: no project is needed
 */
export async function chooseProject(
  user: ApiClient,
  { organization, project }: ProjectChoice,
  { isWhole = false } = {},
): Promise<{ tenant: string; project: string }> {
  const isKnown = organization?.startsWith('ten_') === true
  if (isKnown && isWhole) return { tenant: organization, project: '' }
  if (isKnown && project?.startsWith('prj_') === true) return { tenant: organization, project }
  const { tenants } = await user.ask('GET', '/api/v2/me')
  const mine = organization === undefined ? tenants : tenants.filter((each) => isMeant(each, organization))
  if (isWhole) return { tenant: onlyOne(mine, 'organization', organization).id, project: '' }
  const [only, ...others] = mine
  if (project?.startsWith('prj_') && only && others.length === 0) return { tenant: only.id, project }
  const projects = mine.flatMap((tenant) => tenant.projects.map((each) => ({ ...each, tenant: tenant.id })))
  const meant = project === undefined ? projects : projects.filter((each) => isMeant(each, project))
  const { id, tenant } = onlyOne(meant, 'project', project)
  return { tenant, project: id }
}

const isMeant = ({ id, name }: Named, wanted: string) => id === wanted || name === wanted

function onlyOne<Item extends Named>(items: readonly Item[], what: string, wanted: string | undefined): Item {
  const [first, ...others] = items
  const named = wanted === undefined ? '' : ` ${wanted}`
  if (first === undefined)
    throw new CommandFailure(
      `You have no ${what}${named}.`,
      `Run gateway whoami to list them. With the token of an organization, use the id of the project: --project prj_…`,
    )
  if (others.length === 0) return first
  const list = items.slice(0, 20).map(({ id, name }) => `${id} (${name})`)
  throw new CommandFailure(
    `Several match this ${what}: ${list.join(', ')}.`,
    `Choose one by its id with --${what} or GATEWAY_${what.toUpperCase()}`,
    'usage',
  )
}
