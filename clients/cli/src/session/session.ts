import { openApiClient, type ApiClient } from '@gateway/api-client/open-api-client'
import { CommandFailure } from '../frame/command-failure.ts'
import type { Io } from '../frame/io.ts'
import { chooseProject, type ProjectChoice } from './choose-project.ts'
import { addressOf } from './address-of.ts'
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
