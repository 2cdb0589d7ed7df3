import { randomUUID } from 'node:crypto'
import { exampleIds } from '@gateway/api/example-ids'
import { usd } from '@gateway/pricing/usd'
import { CommandFailure } from '../frame/command-failure.ts'
import { command, folderOptions, projectOptions, type Given } from '../frame/command-row.ts'
import { confirm } from '../frame/io.ts'
import { printRecord, printRows } from '../frame/print.ts'
import { openFlows, sandboxNamed } from '../flows/open-flows.ts'
import { collect, atMost, flowOperand, readAmount, readWholeNumber } from './argument-values.ts'
import { follow } from './follow.ts'

const options = { ...projectOptions, ...folderOptions }
const operands = [{ name: 'execution', summary: 'the id of an execution' }]
const execution = exampleIds.execution
const theExecution = '/api/v2/tenants/{tenant}/projects/{project}/executions/{execution}'

async function located({ session, operands }: Given) {
  const { tenant, project } = await session.project()
  return { api: await session.user(), params: { tenant, project, execution: operands[0]! } }
}

export const executionCommands = [
  command({
    name: 'executions list',
    summary: 'List executions of the project or of one flow, newest first',
    operands: [{ ...flowOperand, optional: true }],
    options: {
      ...options,
      state: {
        type: 'string',
        value: 'state',
        summary: 'Only those in this state',
        choices: ['Admitted', 'Running', 'Succeeded', 'Failed', 'Cancelled'],
      },
      limit: { type: 'string', value: 'number', summary: 'Maximum number of rows; 20 by default' },
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
    summary: 'Follow an execution to its end, regardless of who started it',
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
    description: 'Calls that were answered are charged. An execution that has ended stays unchanged.',
    operands,
    options,
    examples: [`gateway executions cancel ${execution} --yes`],
    async handle(given) {
      await confirm(given, `${given.operands[0]!} will be stopped. The calls it has made are charged.`)
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
    summary: 'Execute again from a node, with the recorded results of the nodes before it',
    operands,
    options: {
      ...options,
      from: {
        type: 'string',
        value: 'node',
        summary: 'The first node to run again; it and all nodes after it are charged',
      },
      'at-most': atMost,
    },
    examples: [`gateway executions rerun ${execution} --from polish --at-most 0.05`],
    async handle(given) {
      const { options } = given
      if (options.from === undefined)
        throw new CommandFailure('No node is named.', 'Name the node to start from: --from <node>', 'usage')
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
