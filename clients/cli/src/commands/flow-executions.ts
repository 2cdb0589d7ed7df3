import path from 'node:path'
import { readFile } from 'node:fs/promises'
import { randomUUID } from 'node:crypto'
import { exampleIds } from '@gateway/contracts/example-ids'
import { usd } from '@gateway/money/usd'
import { CommandFailure } from '../frame/command-failure.ts'
import { command, folderOptions, projectOptions, type Given } from '../frame/command-row.ts'
import { confirm } from '../frame/confirm.ts'
import { printRecord, printRows } from '../frame/print.ts'
import { readJson } from '../flows/json-positions.ts'
import { openFlows, sandboxNamed } from '../flows/open-flows.ts'
import { collect } from './collect.ts'
import { follow } from './follow.ts'
import { readAmount, readWholeNumber } from './read-words.ts'

const options = { ...projectOptions, ...folderOptions }
const operands = [{ name: 'execution', summary: 'the id of an execution' }]
const flowOperand = {
  name: 'flow',
  summary: 'its name here, the name of the product, or its id',
  offered: 'flows',
} as const
const atMost = { type: 'string', value: 'amount', summary: 'What it may be charged at most, in US dollars' } as const
const execution = exampleIds.execution
const theExecution = '/api/v2/tenants/{tenant}/projects/{project}/executions/{execution}'

async function located({ session, operands }: Given) {
  const { tenant, project } = await session.project()
  return { api: await session.person(), params: { tenant, project, execution: operands[0]! } }
}

export const flowExecutionCommands = [
  command({
    name: 'flows list',
    summary: 'List the flows of the project',
    options,
    examples: ['gateway flows list', 'gateway flows list --json'],
    async handle(given) {
      printRows(given, await (await openFlows(given)).list(), {
        id: ({ id }) => id,
        name: ({ name }) => name,
        active: ({ activeRevision }) => activeRevision,
        latest: ({ latestRevision }) => latestRevision,
        mcp: ({ mcpEnabled }) => (mcpEnabled ? 'on' : 'off'),
        suspended: ({ suspended }) => (suspended ? 'yes' : 'no'),
      })
    },
  }),
  command({
    name: 'flows run',
    summary: 'Execute a flow on the wallet of the project, and follow it to its end',
    description:
      'The revision of the file that was pulled or pushed; of a flow without a file, the active one. Stopping the command does not stop the execution.',
    operands: [flowOperand],
    options: {
      ...options,
      input: {
        type: 'string',
        value: 'json',
        summary: 'By field of the contract; @file reads a file, - the standard input',
      },
      revision: { type: 'string', value: 'number', summary: 'Another one of its revisions' },
      'at-most': atMost,
    },
    examples: [
      `gateway flows run summary --input '{"prompt":"Rain"}' --at-most 0.05`,
      `echo '{"prompt":"Rain"}' | gateway flows run summary --input - --json`,
    ],
    async handle(given) {
      const { io, operands, options } = given
      const input = await readInput(given, options.input ?? '{}')
      const flows = await openFlows(given)
      const { api, tenant, project } = flows
      const sandbox = await sandboxNamed(flows, operands[0]!)
      const locked = Object.values(flows.lock.flows).find((one) => one.sandbox === sandbox)?.revision ?? null
      const revision =
        options.revision === undefined ? locked : readWholeNumber('--revision', options.revision, { least: 1 })
      const most = options['at-most']
      const body = { input, revision, ...(most !== undefined && { maxMicro: readAmount('--at-most', most) }) }
      io.progress('Beginning …')
      const idempotencyKey = randomUUID()
      return follow(given, { api, tenant, project }, (fields) =>
        api.raw('POST', '/api/v2/tenants/{tenant}/sandboxes/{sandbox}/execute', {
          params: { tenant, sandbox },
          body,
          idempotencyKey,
          ...fields,
        }),
      )
    },
  }),
  command({
    name: 'executions list',
    summary: 'List executions of the project or of one flow, newest first',
    operands: [{ ...flowOperand, optional: true }],
    options: {
      ...options,
      state: {
        type: 'string',
        value: 'state',
        summary: 'Only those that are so now',
        choices: ['Admitted', 'Running', 'Succeeded', 'Failed', 'Cancelled'],
      },
      limit: { type: 'string', value: 'number', summary: 'How many at most; 20 by default' },
    },
    examples: [
      'gateway executions list',
      `gateway executions list ${exampleIds.sandbox}`,
      'gateway executions list Summary --state Succeeded --limit 5 --json',
    ],
    async handle(given) {
      const { operands, options } = given
      const limit = readWholeNumber('--limit', options.limit ?? '20', { least: 1 })
      const flows = await openFlows(given)
      const { api, tenant, project } = flows
      const sandbox = operands[0] === undefined ? undefined : await sandboxNamed(flows, operands[0])
      const pages = api.pages('/api/v2/tenants/{tenant}/projects/{project}/executions', {
        params: { tenant, project },
        query: { limit: Math.min(limit, 100), sandbox, state: options.state as 'Failed' | undefined },
      })
      printRows(given, await collect(pages, limit), {
        execution: ({ id }) => id,
        flow: ({ sandbox }) => sandbox,
        status: ({ status }) => status,
        revision: ({ revision }) => revision,
        begun: ({ createdAt }) => createdAt,
        '>charged': ({ chargedMicro }) => usd(chargedMicro),
        error: ({ error }) => error?.code ?? null,
      })
    },
  }),
  command({
    name: 'executions show',
    summary: 'Show an execution, node by node',
    operands,
    options,
    examples: [`gateway executions show ${execution}`, `gateway executions show ${execution} --json`],
    async handle(given) {
      const { api, params } = await located(given)
      const record = await api.ask('GET', theExecution, { params })
      printRecord(given, record, {
        execution: ({ id }) => id,
        flow: ({ sandbox, revision }) => `${sandbox}, revision ${revision}`,
        status: ({ status }) => status,
        begun: ({ createdAt }) => createdAt,
        ended: ({ completedAt }) => completedAt,
        charged: ({ chargedMicro }) => usd(chargedMicro),
        input: ({ input }) => JSON.stringify(input),
        output: ({ output }) => JSON.stringify(output),
        error: ({ error }) => (error === null ? null : `${error.code}: ${error.message} ${error.resolution}`),
      })
      if (given.options.json !== true)
        printRows(given, record.nodes, { node: ({ id }) => `  ${id}`, status: ({ status }) => status })
    },
  }),
  command({
    name: 'executions tail',
    summary: 'Follow an execution to its end, whoever began it',
    operands,
    options,
    examples: [`gateway executions tail ${execution}`, `gateway executions tail ${execution} --json`],
    async handle(given) {
      const { api, params } = await located(given)
      return follow(given, { api, ...params }, params.execution)
    },
  }),
  command({
    name: 'executions cancel',
    summary: 'Stop an execution',
    description: 'What was answered is charged. One that has ended stays as it is.',
    operands,
    options,
    examples: [`gateway executions cancel ${execution} --yes`],
    async handle(given) {
      await confirm(given, `${given.operands[0]!} is stopped; what it has called already is charged.`)
      const { api, params } = await located(given)
      const record = await api.ask('POST', `${theExecution}/cancel`, { params })
      printRecord(given, record, {
        execution: ({ id }) => id,
        status: ({ status }) => status,
        charged: ({ chargedMicro }) => usd(chargedMicro),
      })
    },
  }),
  command({
    name: 'executions rerun',
    summary: 'Execute again from a node on, with the results of what is before it',
    operands,
    options: {
      ...options,
      from: { type: 'string', value: 'node', summary: 'The node that begins: it and all below it is charged' },
      'at-most': atMost,
    },
    examples: [`gateway executions rerun ${execution} --from polish --at-most 0.05`],
    async handle(given) {
      const { options } = given
      if (options.from === undefined)
        throw new CommandFailure('It has to begin somewhere.', 'Name a node: --from <node>', 'usage')
      const { api, params } = await located(given)
      const most = options['at-most']
      const body = { from: options.from, ...(most !== undefined && { maxMicro: readAmount('--at-most', most) }) }
      const idempotencyKey = randomUUID()
      return follow(given, { api, ...params }, (fields) =>
        api.raw('POST', `${theExecution}/rerun`, { params, body, idempotencyKey, ...fields }),
      )
    },
  }),
]

async function readInput({ io }: Given, given: string): Promise<Record<string, unknown>> {
  const text =
    given === '-'
      ? await io.readInput()
      : given.startsWith('@')
        ? await readFile(path.resolve(io.folder, given.slice(1)), 'utf8')
        : given
  const read = readJson(text)
  const value = 'fault' in read ? null : read.value
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  const why =
    'fault' in read ? `${read.fault} (line ${read.position.line}, column ${read.position.column})` : 'It is no object.'
  throw new CommandFailure(
    `The input is not what a flow takes: ${why}`,
    `Write it like --input '{"text":"Hello"}'`,
    'usage',
  )
}
