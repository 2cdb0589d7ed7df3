import { openApiClient } from '@gateway/api-client/open-api-client'
import { CommandFailure } from '../frame/command-failure.ts'
import { command } from '../frame/command-row.ts'
import { printJson, printRecord, printRows } from '../frame/print.ts'
import { usd } from '@gateway/money/usd'
import { addressOf } from '../session/address-of.ts'
import { readProfiles, writeProfile } from '../session/profiles.ts'
import type { Io } from '../frame/io.ts'

export const signInCommands = [
  command({
    name: 'login',
    summary: 'Sign in with a personal token, and keep it for this machine',
    description:
      'Opens the page of the console where personal tokens are made, and asks for one. The token is kept in $XDG_CONFIG_HOME/gateway/profiles.json, which only you can read. In a pipeline nothing is kept: set GATEWAY_URL and GATEWAY_TOKEN there.',
    options: {
      url: { type: 'string', value: 'address', summary: 'Where the gateway is' },
      'token-stdin': { type: 'boolean', summary: 'Read the token from the standard input' },
    },
    examples: [
      'gateway login --url https://gateway.example --token-stdin < token.txt',
      'gateway login --url https://gateway.example --token-stdin --profile work < token.txt',
    ],
    async handle({ io, options, session }) {
      const url = options.url === undefined ? await session.url() : addressOf(options.url)
      const token = (options['token-stdin'] ? await io.readInput() : await askForToken(io, url)).trim()
      if (!token.startsWith('svu_'))
        throw new CommandFailure(
          'That is no personal token: those start with svu_.',
          `Make one at ${url}/console/account. A token of a program goes into GATEWAY_TOKEN`,
          'usage',
        )
      const me = await openApiClient({ baseUrl: url, headers: { authorization: `Bearer ${token}` } }).ask(
        'GET',
        '/api/v2/me',
      )
      const file = await writeProfile(io, session.profileName, { url, token })
      io.say(`Signed in at ${url} as ${me.name}, ${me.email}. Kept in ${file}.`)
    },
  }),
  command({
    name: 'logout',
    summary: 'Forget the token that is kept for this machine',
    description: 'The token stays valid; it is deleted on the account page of the console.',
    examples: ['gateway logout', 'gateway logout --profile work'],
    async handle({ io, session: { profileName } }) {
      const isKnown = (await readProfiles(io))[profileName] !== undefined
      if (isKnown) await writeProfile(io, profileName, null)
      io.say(isKnown ? `${profileName} is signed out.` : `Nobody has signed in as ${profileName}.`)
    },
  }),
  command({
    name: 'profiles',
    summary: 'List who has signed in on this machine',
    examples: ['gateway profiles'],
    async handle(given) {
      const rows = Object.entries(await readProfiles(given.io)).map(([name, { url }]) => ({ name, url }))
      printRows(given, rows, { name: ({ name }) => name, url: ({ url }) => url })
    },
  }),
  command({
    name: 'whoami',
    summary: 'Tell who asks, with which roles, and what is left of the key in GATEWAY_KEY',
    examples: ['gateway whoami', 'gateway whoami --json'],
    async handle(given) {
      const { io, options, session } = given
      const me = await (await session.person()).ask('GET', '/api/v2/me')
      const key = session.key === null ? null : await (await session.program()).ask('GET', '/v1/key')
      if (options.json === true) return printJson(given, { url: await session.url(), ...me, key })
      io.write(`${me.name}, ${me.email}, at ${await session.url()}\n`)
      for (const { id, name, role, projects } of me.tenants) {
        io.write(`organization ${id}  ${name}  ${role}\n`)
        for (const project of projects) io.write(`  project ${project.id}  ${project.name}  ${project.role}\n`)
      }
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

function askForToken(io: Io, url: string): Promise<string> {
  if (!io.isTerminal.input)
    throw new CommandFailure('Nobody is there to be asked for a token.', 'Pass it on: --token-stdin < file', 'usage')
  const page = `${url}/console/account`
  io.say(`Make a personal token at ${page}`)
  io.openBrowser(page)
  return io.ask('Token (it is not shown): ', { hidden: true })
}
