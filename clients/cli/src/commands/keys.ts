import { randomUUID } from 'node:crypto'
import { Unreachable } from '@gateway/api-client/failures'
import type { KeyRecord } from '@gateway/api/console/keys'
import { exampleIds } from '@gateway/api/example-ids'
import { usd } from '@gateway/pricing/usd'
import { confirm, type Io } from '../frame/io.ts'
import { CommandFailure, exitCodes } from '../frame/command-failure.ts'
import { command, projectOptions, type Given } from '../frame/command-row.ts'
import { printJson, printRecord, printRows } from '../frame/print.ts'
import { readDays, readSpan, readSpendingLimit, readWholeNumber, collect } from './argument-values.ts'
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { realpath } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { readBytesIfThere, writePrivateFile } from '../session/profiles.ts'

const keys = '/api/v2/tenants/{tenant}/keys'
const theKey = `${keys}/{key}` as const
const key = exampleIds.key
const keyOperand = { name: 'key', summary: 'the id of a key, as gateway keys list shows it' }
const writeEnv = {
  type: 'string',
  value: 'file',
  summary: 'Write the secret to this file as GATEWAY_KEY instead of showing it',
  offered: 'files',
} as const

export const keyCommands = [
  command({
    name: 'keys list',
    summary: 'List the keys of a project that you can manage',
    options: {
      ...projectOptions,
      state: {
        type: 'string',
        value: 'state',
        summary: 'Only those in this state',
        choices: ['Active', 'Paused', 'Expired', 'Revoked', 'Rotated', 'NeedsReissue'],
      },
    },
    examples: ['gateway keys list', 'gateway keys list --state Active --json'],
    async handle(given) {
      const { tenant, project } = await given.session.project()
      const state = given.options.state as 'Active' | undefined
      const pages = (await given.session.user()).pages(keys, { params: { tenant }, query: { project, state } })
      printRows(given, await collect(pages), {
        key: ({ id }) => id,
        name: ({ name }) => name,
        secret: ({ prefix }) => `${prefix}…`,
        state: ({ state }) => state,
        limit: ({ limit }) => (limit === null ? null : `${usd(limit.micro)} ${limit.reset}`),
        '>left': ({ window }) => (window === null ? null : usd(window.remainingMicro)),
        expires: ({ expiresAt }) => expiresAt,
      })
    },
  }),
  command({
    name: 'keys create',
    summary: 'Create a key for a project',
    description:
      'Its secret is shown only once. With --write-env it is written to a file that only you can read, and not shown. The key ends with the personal token that creates it, so also with "gateway logout": create keys for production in the console.',
    operands: [{ name: 'name', summary: 'name of the key' }],
    options: {
      ...projectOptions,
      limit: {
        type: 'string',
        value: 'amount/span',
        summary: 'Spending limit in US dollars, such as 5/day',
      },
      expires: { type: 'string', value: 'days', summary: 'Time until the key expires, such as 90d' },
      tag: { type: 'string', value: 'tag', summary: 'Tag of all its calls, for usage and budgets' },
      only: {
        type: 'string',
        value: 'a,b',
        summary: 'Models and flows it can call; by default all of the project',
      },
      'write-env': writeEnv,
    },
    examples: [
      `gateway keys create 'Nightly summaries' --limit 5/day --expires 90d --only ${exampleIds.product}`,
      'gateway keys create Local --write-env .env',
    ],
    async handle(given) {
      const { operands, options, session } = given
      const file = await openSecretFile(given.io, options['write-env'])
      const { tenant, project } = await session.project()
      const body = {
        project,
        name: operands[0]!,
        ...(options.limit !== undefined && { limit: readSpendingLimit(options.limit) }),
        ...(options.expires !== undefined && { expiresInDays: readDays('--expires', options.expires) }),
        ...(options.tag !== undefined && { tag: options.tag }),
        ...(options.only !== undefined && { policy: 'listed' as const, resources: options.only.split(',') }),
      }
      const user = await session.user()
      const made = await user
        .ask('POST', keys, { params: { tenant }, body, idempotencyKey: randomUUID() })
        .catch((error: unknown) =>
          unseen(given, error, 'The key may have been created; its secret was not shown. See: gateway keys list'),
        )
      if (made.secret === null) throw new CommandFailure(`${made.key.id} was made.`, made.resolution ?? 'Rotate it')
      await handOver(given, made.key.id, made.secret, file)
    },
  }),
  command({
    name: 'keys rotate',
    summary: 'Replace the secret of a key',
    description: 'Without --grace the old secret stops working immediately.',
    operands: [keyOperand],
    options: {
      ...projectOptions,
      grace: { type: 'string', value: 'span', summary: 'Time the old secret keeps working, such as 1h' },
      'write-env': writeEnv,
    },
    examples: [`gateway keys rotate ${key} --grace 1h`, `gateway keys rotate ${key} --yes --write-env rotated.env`],
    async handle(given) {
      const { operands, options, session } = given
      const graceSeconds = options.grace === undefined ? 0 : readSpan('--grace', options.grace)
      if (graceSeconds === 0)
        await confirm(given, `Calls with the old secret of ${operands[0]!} will be refused immediately.`)
      const file = await openSecretFile(given.io, options['write-env'])
      const params = { ...(await session.organization()), key: operands[0]! }
      const user = await session.user()
      const made = await user
        .ask('POST', `${theKey}/rotate`, { params, body: { graceSeconds } })
        .catch((error: unknown) =>
          unseen(given, error, `The secret of ${operands[0]!} may have been replaced. Rotate it again.`),
        )
      await handOver(given, made.key.id, made.secret, file)
    },
  }),
  command({
    name: 'keys rename',
    summary: 'Rename a key',
    operands: [keyOperand, { name: 'name', summary: 'its new name' }],
    options: projectOptions,
    examples: [`gateway keys rename ${key} 'Nightly summaries'`],
    async handle(given) {
      const [user, params, body] = [await given.session.user(), await paramsOf(given), { name: given.operands[1]! }]
      printKey(given, await user.ask('PATCH', theKey, { params, body }))
    },
  }),
  command({
    name: 'keys pause',
    summary: 'Refuse the calls of a key until it is resumed',
    operands: [keyOperand],
    options: projectOptions,
    examples: [`gateway keys pause ${key}`],
    async handle(given) {
      const [user, params] = [await given.session.user(), await paramsOf(given)]
      printKey(given, await user.ask('POST', `${theKey}/pause`, { params }))
    },
  }),
  command({
    name: 'keys resume',
    summary: 'Resume a paused key',
    operands: [keyOperand],
    options: projectOptions,
    examples: [`gateway keys resume ${key}`],
    async handle(given) {
      const [user, params] = [await given.session.user(), await paramsOf(given)]
      printKey(given, await user.ask('POST', `${theKey}/resume`, { params }))
    },
  }),
  command({
    name: 'keys revoke',
    summary: 'Revoke a key, from the next call on',
    operands: [keyOperand],
    options: projectOptions,
    examples: [`gateway keys revoke ${key} --yes`],
    async handle(given) {
      await confirm(given, `Calls with ${given.operands[0]!} will be refused, from the next one on.`)
      const [user, params] = [await given.session.user(), await paramsOf(given)]
      printKey(given, await user.ask('POST', `${theKey}/revoke`, { params }))
    },
  }),
  command({
    name: 'keys check',
    summary: 'Test whether a call with a key would be admitted',
    description:
      'Reserves and writes nothing. Without a key it tests the one in GATEWAY_KEY. Exits with 1 if the call would be refused.',
    operands: [{ ...keyOperand, optional: true }],
    options: {
      ...projectOptions,
      model: { type: 'string', value: 'id', summary: 'Model to call' },
      'max-tokens': { type: 'string', value: 'number', summary: 'Max output tokens' },
      'prompt-bytes': { type: 'string', value: 'number', summary: 'Size of the prompt, in bytes' },
    },
    examples: [
      `gateway keys check ${key} --model ${exampleIds.product} --max-tokens 300`,
      `gateway keys check --model ${exampleIds.product} --prompt-bytes 2000 --json`,
    ],
    async handle(given) {
      const { operands, options, session } = given
      if (options.model === undefined)
        throw new CommandFailure(
          'No model is named, and admission depends on it.',
          'Name the model: --model <id>',
          'usage',
        )
      const [maxTokens, promptBytes] = [options['max-tokens'], options['prompt-bytes']]
      const body = {
        model: options.model,
        ...(maxTokens !== undefined && { maxTokens: readWholeNumber('--max-tokens', maxTokens, { least: 1 }) }),
        ...(promptBytes !== undefined && { promptBytes: readWholeNumber('--prompt-bytes', promptBytes) }),
      }
      const id = operands[0]
      const check =
        id === undefined
          ? await (await session.program()).ask('POST', '/v1/key/check', { body })
          : await (
              await session.user()
            ).ask('POST', `${theKey}/check`, { params: { ...(await session.organization()), key: id }, body })
      printRecord(given, check, {
        admitted: ({ admitted }) => (admitted ? 'yes' : 'no'),
        'reserves at most': ({ boundMicro }) => (boundMicro === null ? null : usd(boundMicro)),
        'answers at most': ({ outputCap }) => (outputCap === null ? null : `${outputCap} tokens`),
        rules: ({ rules }) => rules.map(({ rule, outcome }) => `${rule} ${outcome.replace('_', ' ')}`).join(', '),
      })
      if (check.refusal === null) return exitCodes.done
      given.io.say(`Refused, ${check.refusal.code}: ${check.refusal.message}`)
      given.io.say(`Resolution: ${check.refusal.resolution}`)
      return exitCodes.refused
    },
  }),
]

async function paramsOf({ session, operands }: Given): Promise<{ tenant: string; key: string }> {
  return { ...(await session.organization()), key: operands[0]! }
}

function printKey(given: Parameters<typeof printRecord>[0], record: KeyRecord): void {
  printRecord(given, record, { key: ({ id }) => id, name: ({ name }) => name, state: ({ state }) => state })
}

/** Reports that the request may have taken effect although no response confirms it. */
function unseen({ io }: Pick<Given, 'io'>, error: unknown, words: string): never {
  if (error instanceof Unreachable) io.say(words)
  throw error
}

/** Passes the secret to exactly one of two destinations. */
async function handOver(
  given: Pick<Given, 'io' | 'options'>,
  id: string,
  secret: string,
  file: SecretFile | null,
): Promise<void> {
  if (file) {
    await file.keep(secret).catch((error: Error) => {
      throw new CommandFailure(
        `${id} was created, but its secret is lost. ${error.message}`,
        `Replace the secret: gateway keys rotate ${id} --write-env ${file.name}`,
      )
    })
    given.io.say(`The secret of ${id} is in ${file.name}.`)
  }
  given.io.say('The key ends with your personal token, so also with "gateway logout" or another "gateway login".')
  const shown = file ? { key: id } : { key: id, secret }
  if (given.options.json === true) printJson(given, shown)
  else printRecord(given, shown, { key: () => id, ...(!file && { secret: () => secret }) })
  if (file) return
  if (!(await given.io.isWritten()))
    throw new CommandFailure(
      `${id} was created, but its secret was not shown.`,
      `Replace the secret: gateway keys rotate ${id}`,
    )
  given.io.say("Copy the secret now: it won't be shown again.")
}

/** More than any secret needs. */
const ROOM_BYTES = 4_096

interface SecretFile {
  name: string
  keep(secret: string): Promise<void>
}

/**
 * Checks the file for a secret before the secret exists: one that can be stored nowhere is lost.
 * @throws CommandFailure if it already has a key, git would commit it, or it can't be written
 */
async function openSecretFile(io: Io, name: string | undefined): Promise<SecretFile | null> {
  if (name === undefined) return null
  const asked = path.resolve(io.folder, name)
  const file = await realpath(asked).catch(() => asked)
  const before = await contentWithoutKey(name, file)
  const isIgnored = await ignoredByGit(io, file)
  if (isIgnored === 'unknown')
    throw new CommandFailure(
      `git can't tell whether ${name} would be committed.`,
      `Run git status to see why, or name a file outside the repository`,
      'usage',
    )
  if (isIgnored === 'no')
    throw new CommandFailure(
      `git does not ignore ${name}: the key would be committed.`,
      `Add ${name} to .gitignore`,
      'usage',
    )
  await writePrivateFile(file, Buffer.concat([before, Buffer.alloc(ROOM_BYTES)]), { isTrial: true })
  return {
    name,
    async keep(secret) {
      const current = await contentWithoutKey(name, file) // others may have written to it since
      const gap = current.length === 0 || current.at(-1) === 0x0a ? '' : '\n'
      await writePrivateFile(file, Buffer.concat([current, Buffer.from(`${gap}GATEWAY_KEY=${secret}\n`)]))
    },
  }
}

/** Returns bytes, because the content may not be UTF-8. */
async function contentWithoutKey(name: string, file: string): Promise<Buffer> {
  const content = (await readBytesIfThere(file)) ?? Buffer.alloc(0)
  if (/^\s*(export\s+)?GATEWAY_KEY\s*=/m.test(content.toString()))
    throw new CommandFailure(`${name} already has a GATEWAY_KEY.`, 'Remove that line, or name another file', 'usage')
  return content
}

/** `yes` also if there is no repository, or no git. */
async function ignoredByGit({ env }: Io, file: string): Promise<'yes' | 'no' | 'unknown'> {
  let folder = path.dirname(file)
  while (!existsSync(folder)) folder = path.dirname(folder)
  const git = (...args: string[]) =>
    promisify(execFile)('git', ['-C', folder, ...args], { env: { ...env, LC_ALL: 'C' } }).then(
      ({ stdout }) => stdout.trim(),
      ({ code, stderr }: { code: unknown; stderr: string }) => {
        if (code === 'ENOENT' || stderr.includes('not a git repository')) return 'none'
        return code === 1 ? 'no' : 'unknown' // such as a repository of another user
      },
    )
  const isInside = await git('rev-parse', '--is-inside-work-tree')
  if (isInside !== 'true') return isInside === 'unknown' ? 'unknown' : 'yes'
  const ignored = await git('check-ignore', file)
  return ignored === 'no' || ignored === 'unknown' ? ignored : 'yes'
}
