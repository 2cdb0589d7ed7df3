import { randomUUID } from 'node:crypto'
import { Unreachable } from '@gateway/api-client/failures'
import { exampleIds } from '@gateway/api/example-ids'
import { usd } from '@gateway/pricing/usd'
import { confirm } from '../frame/confirm.ts'
import { CommandFailure, exitCodes } from '../frame/command-failure.ts'
import { command, projectOptions, type Given } from '../frame/command-row.ts'
import { printJson, printRecord, printRows } from '../frame/print.ts'
import { readDays, readSpan, readSpendingLimit, readWholeNumber } from './argument-values.ts'
import { collect } from './collect.ts'
import { openSecretFile, type SecretFile } from './secret-file.ts'

const keys = '/api/v2/tenants/{tenant}/keys'
const theKey = `${keys}/{key}` as const
const key = exampleIds.key
const keyOperand = { name: 'key', summary: 'the id of a key, such as gateway keys list tells' }
const writeEnv = {
  type: 'string',
  value: 'file',
  summary: 'Put the secret into this file as GATEWAY_KEY, and show it nowhere',
  offered: 'files',
} as const

export const keyCommands = [
  command({
    name: 'keys list',
    summary: 'List the keys of a project that you may manage',
    options: {
      ...projectOptions,
      state: {
        type: 'string',
        value: 'state',
        summary: 'Only those that are so now',
        choices: ['Active', 'Expired', 'Revoked', 'Rotated', 'NeedsReissue'],
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
    summary: 'Issue a key of a project',
    description:
      'Its secret is shown this once; with --write-env it is written into a file that only you read, and not shown.',
    operands: [{ name: 'name', summary: 'what it is for' }],
    options: {
      ...projectOptions,
      limit: {
        type: 'string',
        value: 'amount/span',
        summary: 'What may be spent with it, such as 5/day, in US dollars',
      },
      expires: { type: 'string', value: 'days', summary: 'When it ends, such as 90d' },
      only: {
        type: 'string',
        value: 'a,b',
        summary: 'The models and flows it may call; by default all of the project',
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
        ...(options.only !== undefined && { policy: 'listed' as const, resources: options.only.split(',') }),
      }
      const user = await session.user()
      const made = await user
        .ask('POST', keys, { params: { tenant }, body, idempotencyKey: randomUUID() })
        .catch((error: unknown) =>
          unseen(
            given,
            error,
            'Whether the key was made tells gateway keys list; if so, its secret was shown to no one.',
          ),
        )
      if (made.secret === null) throw new CommandFailure(`${made.key.id} was made.`, made.resolution ?? 'Rotate it')
      await handOver(given, made.key.id, made.secret, file)
    },
  }),
  command({
    name: 'keys rotate',
    summary: 'Replace the secret of a key',
    description: 'Without --grace the old secret ends at once.',
    operands: [keyOperand],
    options: {
      ...projectOptions,
      grace: { type: 'string', value: 'span', summary: 'How long the old secret still works, such as 1h' },
      'write-env': writeEnv,
    },
    examples: [`gateway keys rotate ${key} --grace 1h`, `gateway keys rotate ${key} --yes --write-env rotated.env`],
    async handle(given) {
      const { operands, options, session } = given
      const file = await openSecretFile(given.io, options['write-env'])
      const graceSeconds = options.grace === undefined ? 0 : readSpan('--grace', options.grace)
      if (graceSeconds === 0) await confirm(given, `Anyone who uses ${operands[0]!} is refused at once.`)
      const params = { ...(await session.organization()), key: operands[0]! }
      const user = await session.user()
      const made = await user
        .ask('POST', `${theKey}/rotate`, { params, body: { graceSeconds } })
        .catch((error: unknown) =>
          unseen(given, error, `It is not known whether the secret of ${operands[0]!} was replaced: rotate it again.`),
        )
      await handOver(given, made.key.id, made.secret, file)
    },
  }),
  command({
    name: 'keys revoke',
    summary: 'End a key, from the next call on',
    operands: [keyOperand],
    options: projectOptions,
    examples: [`gateway keys revoke ${key} --yes`],
    async handle(given) {
      await confirm(given, `Anyone who uses ${given.operands[0]!} is refused from the next call on.`)
      const params = { ...(await given.session.organization()), key: given.operands[0]! }
      const record = await (await given.session.user()).ask('POST', `${theKey}/revoke`, { params })
      printRecord(given, record, { key: ({ id }) => id, state: ({ state }) => state })
    },
  }),
  command({
    name: 'keys check',
    summary: 'Ask whether a call with a key would be admitted now',
    description:
      'Reserves and writes nothing. Without a key it is the one of GATEWAY_KEY. Ends with 1 where the call would be refused.',
    operands: [{ ...keyOperand, optional: true }],
    options: {
      ...projectOptions,
      model: { type: 'string', value: 'id', summary: 'The model that would be called' },
      'max-tokens': { type: 'string', value: 'number', summary: 'What it may answer at most' },
      'prompt-bytes': { type: 'string', value: 'number', summary: 'How large the prompt is' },
    },
    examples: [
      `gateway keys check ${key} --model ${exampleIds.product} --max-tokens 300`,
      `gateway keys check --model ${exampleIds.product} --prompt-bytes 2000 --json`,
    ],
    async handle(given) {
      const { operands, options, session } = given
      if (options.model === undefined)
        throw new CommandFailure('Whether a call is admitted depends on its model.', 'Name it: --model <id>', 'usage')
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

/** Reports that the request may have taken effect although no response confirms it. */
function unseen({ io }: Pick<Given, 'io'>, error: unknown, words: string): never {
  if (error instanceof Unreachable) io.say(words)
  throw error
}

/** Passes the secret to exactly one of two destinations. */
async function handOver(
  given: Parameters<typeof printJson>[0],
  id: string,
  secret: string,
  file: SecretFile | null,
): Promise<void> {
  if (file) {
    await file.keep(secret).catch((error: Error) => {
      throw new CommandFailure(
        `${id} was made, and its secret is lost. ${error.message}`,
        `Replace the secret: gateway keys rotate ${id} --write-env ${file.name}`,
      )
    })
    given.io.say(`The secret of ${id} is in ${file.name}.`)
  }
  const shown = file ? { key: id } : { key: id, secret }
  if (given.options.json === true) printJson(given, shown)
  else printRecord(given, shown, { key: () => id, ...(!file && { secret: () => secret }) })
  if (file) return
  if (!(await given.io.isWritten()))
    throw new CommandFailure(
      `${id} was made, and its secret was shown to no one.`,
      `Replace the secret: gateway keys rotate ${id}`,
    )
  given.io.say('The secret is shown this once.')
}
