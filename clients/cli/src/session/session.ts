import { openApiClient, type ApiClient } from '@gateway/api-client/open-api-client'
import { CommandFailure } from '../frame/command-failure.ts'
import type { Io } from '../frame/io.ts'
import { readProfiles, type Profile } from './profiles.ts'

export interface Session {
  profileName: string
  /** Address of the service. */
  url(): Promise<string>
  /** The API as a user, or as a program with a token. */
  user(): Promise<ApiClient>
  /** The API with an API key. */
  program(): Promise<ApiClient>
  /** The key from GATEWAY_KEY; null if there is none. */
  key: string | null
  /** The organization and the project of the command. @param known from a folder of flows */
  project(known?: ProjectChoice | null): Promise<{ tenant: string; project: string }>
  organization(): Promise<{ tenant: string }>
}

const signIn = (message: string) =>
  new CommandFailure(message, 'Sign in: gateway login --url https://…, or set GATEWAY_URL and GATEWAY_TOKEN', 'signIn')

/** Reads and asks nothing before a command needs it. The environment takes precedence over the stored sign-in. */
export function openSession(io: Io, options: Readonly<Record<string, unknown>>): Session {
  const { env } = io
  const { profile: named } = options
  const profileName = typeof named === 'string' ? named : env['GATEWAY_PROFILE'] || 'default'
  const key = env['GATEWAY_KEY'] || null
  const profile = once(async (): Promise<Profile | null> => (await readProfiles(io))[profileName] ?? null)

  const url = once(async () => {
    const known = env['GATEWAY_URL'] || (await profile())?.url
    if (known === undefined) throw signIn('The address of the gateway is unknown.')
    return addressOf(known)
  })
  /** A token given for one address is never sent to another. */
  const token = once(async () => {
    if (env['GATEWAY_TOKEN']) return env['GATEWAY_TOKEN']
    const known = await profile()
    if (known === null) throw signIn(`No one has signed in as ${profileName}.`)
    if (known.url !== (await url()))
      throw signIn(`The token of ${profileName} is for ${known.url}, not for GATEWAY_URL.`)
    return known.token
  })
  async function client(given: string): Promise<ApiClient> {
    const secret = given.trim()
    // With other characters it is not a valid header, and the platform's error would reveal the secret.
    if (!/^[\x21-\x7E]+$/.test(secret)) throw signIn('The token or key contains invalid characters.')
    return openApiClient({ baseUrl: await url(), headers: { authorization: `Bearer ${secret}` } })
  }
  const user = once(async () => client(await token()))

  async function choice(): Promise<ProjectChoice> {
    const given = { organization: options['organization'], project: options['project'] } as ProjectChoice
    const ofEnv = { organization: env['GATEWAY_ORGANIZATION'], project: env['GATEWAY_PROJECT'] }
    const kept = env['GATEWAY_TOKEN'] ? null : await profile()
    return {
      organization: given.organization ?? (ofEnv.organization || kept?.organization),
      project: given.project ?? (ofEnv.project || kept?.project),
    }
  }

  return {
    profileName,
    url,
    user,
    key,
    async program() {
      if (key !== null) return client(key)
      throw new CommandFailure('There is no API key.', 'Set GATEWAY_KEY to a key of the project', 'signIn')
    },
    async project(known = null) {
      const chosen = await choice()
      const isAsked = options['project'] !== undefined || options['organization'] !== undefined
      return chooseProject(await user(), known !== null && !isAsked ? known : chosen)
    },
    async organization() {
      return chooseProject(await user(), await choice(), { isWhole: true })
    },
  }
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | null = null
  return () => (made ??= make())
}

/** Each by its id or its name. */
interface ProjectChoice {
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
async function chooseProject(
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

/** The address of a service from user input, which may also be the address of its models or its console. */
export function addressOf(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '')
    throw new CommandFailure(
      `${JSON.stringify(text.replace(/\/\/.*@/, '//…@'))} is not a gateway address.`,
      'Write it like https://gateway.example',
      'usage',
    )
  return (url.origin + url.pathname).replace(/\/+$/, '').replace(/\/(v1|console)$/, '')
}
