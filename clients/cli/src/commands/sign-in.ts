import { ApiRefusal, Unreachable } from '@gateway/api-client/failures'
import { openApiClient } from '@gateway/api-client/open-api-client'
import { CommandFailure } from '../frame/command-failure.ts'
import { command } from '../frame/command-row.ts'
import { printJson, printRecord, printRows } from '../frame/print.ts'
import { usd } from '@gateway/pricing/usd'
import { addressOf } from '../session/session.ts'
import { readProfiles, writeProfile, type Profile } from '../session/profiles.ts'
import { signInByBrowser, type SignedIn } from '../session/sign-in-by-browser.ts'
import type { Io } from '../frame/io.ts'

export const signInCommands = [
  command({
    name: 'login',
    summary: 'Sign in with the browser or a personal token',
    description:
      'Opens the console, where you confirm that this machine may have a personal token. On a machine without a browser, open the address that is reported on another one, and paste the code that is shown there. The token is kept in $XDG_CONFIG_HOME/gateway/profiles.json, which only you can read; one that was there by an earlier sign-in is deleted. In a pipeline nothing is kept: set GATEWAY_URL and GATEWAY_TOKEN there.',
    options: {
      url: { type: 'string', value: 'address', summary: 'URL of the gateway' },
      'token-stdin': { type: 'boolean', summary: 'Read the token from standard input' },
    },
    examples: [
      'gateway login --url https://gateway.example --token-stdin < token.txt',
      'gateway login --url https://gateway.example --token-stdin --profile work < token.txt',
    ],
    async handle({ io, options, session }) {
      const url = options.url === undefined ? await session.url() : addressOf(options.url)
      const before = (await readProfiles(io))[session.profileName]
      let isSame = false
      const keep = async (got: SignedIn) => {
        isSame = got.token === before?.token
        await keepToken(io, session.profileName, { url, ...got }, isSame ? before : undefined)
      }
      if (options['token-stdin']) await keep(await readToken(io, url))
      else await askBrowser(io, url, keep)
      if (before !== undefined && !isSame) await deleteToken(before)
    },
  }),
  command({
    name: 'logout',
    summary: 'Remove the token stored on this machine',
    description:
      'A token created by signing in with the browser is deleted, and the keys, service tokens and invitations made with it end. A token that you created yourself stays valid: delete it on the account page of the console.',
    examples: ['gateway logout', 'gateway logout --profile work'],
    async handle({ io, session: { profileName } }) {
      const known = (await readProfiles(io))[profileName]
      if (known === undefined) return io.say(`No one has signed in as ${profileName}.`)
      await writeProfile(io, profileName, null)
      io.say(`${profileName} is signed out.`)
      if (known.tokenId === undefined || (await deleteToken(known))) return
      throw new CommandFailure(`Its token is still valid at ${known.url}.`, `Delete it at ${known.url}/console/account`)
    },
  }),
  command({
    name: 'profiles',
    summary: 'List the profiles on this machine',
    examples: ['gateway profiles'],
    async handle(given) {
      const rows = Object.entries(await readProfiles(given.io)).map(([name, { url }]) => ({ name, url }))
      printRows(given, rows, { name: ({ name }) => name, url: ({ url }) => url })
    },
  }),
  command({
    name: 'whoami',
    summary: 'Show the current user, their roles, and the remaining limit of the key in GATEWAY_KEY',
    examples: ['gateway whoami', 'gateway whoami --json'],
    async handle(given) {
      const { io, options, session } = given
      const me = await (await session.user()).ask('GET', '/api/v2/me')
      const readKey = async () => (session.key === null ? null : (await session.program()).ask('GET', '/v1/key'))
      if (options.json === true) return printJson(given, { url: await session.url(), ...me, key: await readKey() })
      const who = me.permissions === null ? me.email : `a service token with ${me.permissions.join(', ')}`
      io.write(`${me.name}, ${who}, at ${await session.url()}\n`)
      for (const { id, name, role, projects } of me.tenants) {
        io.write(`organization ${id}  ${name}  ${role}\n`)
        for (const project of projects) io.write(`  project ${project.id}  ${project.name}  ${project.role}\n`)
      }
      const key = await readKey()
      if (key !== null)
        printRecord(given, key, {
          key: ({ id }) => id,
          'of project': ({ project }) => project,
          left: ({ remainingMicro }) => (remainingMicro === null ? 'no limit' : usd(remainingMicro)),
          expires: ({ expiresAt }) => expiresAt ?? 'never',
        })
    },
  }),
]

async function readToken(io: Io, url: string): Promise<SignedIn> {
  const token = (await io.readInput()).trim()
  if (token.startsWith('svu_')) return { token }
  throw new CommandFailure(
    'That is not a personal token, which starts with svu_.',
    `Create one at ${url}/console/account. Set GATEWAY_TOKEN to use a service token`,
    'usage',
  )
}

function askBrowser(io: Io, url: string, keep: (got: SignedIn) => Promise<void>): Promise<void> {
  if (io.isTerminal.input) return signInByBrowser(io, url, keep)
  throw new CommandFailure('Signing in needs a terminal.', 'Pass a personal token: --token-stdin < file', 'usage')
}

/**
 * Stores a token once it is verified. A token that can't be stored is deleted, since no one would have it.
 * @param before the stored profile, if it has the same token
 */
async function keepToken(io: Io, name: string, profile: Profile, before: Profile | undefined): Promise<void> {
  try {
    const me = await clientOf(profile).ask('GET', '/api/v2/me')
    const file = await writeProfile(io, name, { ...before, ...profile })
    io.say(`Signed in at ${profile.url} as ${me.name}, ${me.email}. Saved in ${file}.`)
  } catch (error) {
    await deleteToken(profile)
    throw error
  }
}

const clientOf = ({ url, token }: Pick<Profile, 'url' | 'token'>) =>
  openApiClient({ baseUrl: url, headers: { authorization: `Bearer ${token}` } })

/** Deletes a token if it was created for this machine. Returns whether it is deleted. */
async function deleteToken({ url, token, tokenId }: Profile): Promise<boolean> {
  if (tokenId === undefined) return false
  try {
    await clientOf({ url, token }).ask('DELETE', '/api/v2/me/tokens/{token}', { params: { token: tokenId } })
    return true
  } catch (error) {
    if (error instanceof Unreachable) return false
    if (error instanceof ApiRefusal) return error.status === 401 || error.status === 404 // it was already gone
    throw error
  }
}
