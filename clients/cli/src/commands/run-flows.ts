import path from 'node:path'
import { readFile } from 'node:fs/promises'
import { randomUUID } from 'node:crypto'
import { usd } from '@gateway/pricing/usd'
import { CommandFailure } from '../frame/command-failure.ts'
import { command, folderOptions, projectOptions, type Given } from '../frame/command-row.ts'
import { printRecord, printRows } from '../frame/print.ts'
import { readJson } from '../flows/json-positions.ts'
import { openFlows, pushedRevision, sandboxNamed, type Flows } from '../flows/open-flows.ts'
import { follow } from './follow.ts'
import { atMost, flowOperand, readAmount, readWholeNumber } from './argument-values.ts'

const options = { ...projectOptions, ...folderOptions }
const askedOptions = {
  input: {
    type: 'string',
    value: 'json',
    summary: 'Input as JSON, by field of the contract; @file reads a file, - standard input',
  },
  revision: { type: 'string', value: 'number', summary: 'Another revision of the flow' },
} as const

export const runFlowCommands = [
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
    summary: "Execute a flow, charged to the project's wallet, and follow it to its end",
    description:
      'Runs the revision last pulled or pushed, or the active one if the flow has no file. Stopping the command does not stop the execution.',
    operands: [flowOperand],
    options: {
      ...options,
      ...askedOptions,
      'at-most': atMost,
    },
    examples: [
      `gateway flows run summary --input '{"prompt":"Rain"}' --at-most 0.05`,
      `echo '{"prompt":"Rain"}' | gateway flows run summary --input - --json`,
    ],
    async handle(given) {
      const { api, tenant, project, sandbox, ...asked } = await readAsked(given)
      const most = given.options['at-most']
      const body = { ...asked, ...(most !== undefined && { maxMicro: readAmount('--at-most', most) }) }
      given.io.progress('Trigger …')
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
    name: 'flows estimate',
    summary: 'Estimate the max cost of a flow, and show the cost of its last executions',
    description: 'Starts nothing and charges nothing. Uses current prices and the revision that flows run would use.',
    operands: [flowOperand],
    options: { ...options, ...askedOptions },
    examples: [
      `gateway flows estimate summary --input '{"prompt":"Rain"}'`,
      `gateway flows estimate summary --input '{"prompt":"Rain"}' --json`,
    ],
    async handle(given) {
      const { api, tenant, sandbox, input, revision } = await readAsked(given)
      const path = '/api/v2/tenants/{tenant}/sandboxes/{sandbox}/estimate'
      const body = { input, revision }
      const estimate = await api.ask('POST', path, { params: { tenant, sandbox }, body, isRepeatable: true })
      const charged = (micro: number | null) => (micro === null ? null : usd(micro))
      printRecord(given, estimate, {
        revision: ({ revision }) => revision,
        'at most': ({ atMostMicro }) => usd(atMostMicro),
        'last executions': ({ last }) => last.executions,
        'median cost': ({ last }) => charged(last.medianMicro),
        'nine in ten': ({ last }) => charged(last.p90Micro),
      })
    },
  }),
]

/** Reads which flow of the project to run, which revision, and its input. */
async function readAsked(given: Given<typeof options & typeof askedOptions>) {
  const { operands, options } = given
  const input = await readInput(given, options.input ?? '{}')
  const flows = await openFlows(given)
  const { api, tenant, project } = flows
  const sandbox = await sandboxNamed(flows, operands[0]!)
  const revision =
    options.revision === undefined
      ? lastSeen(flows, sandbox)
      : readWholeNumber('--revision', options.revision, { least: 1 })
  return { api, tenant, project, sandbox, input, revision }
}

/** The revision last pulled or pushed; null if the flow has no file. */
function lastSeen({ lock }: Flows, sandbox: string): number | null {
  const [name, locked] = Object.entries(lock.flows).find(([, one]) => one.sandbox === sandbox) ?? []
  return name === undefined ? null : pushedRevision({ name, ...locked! })
}

async function readInput({ io }: Given, given: string): Promise<Record<string, unknown>> {
  const text =
    given === '-'
      ? await io.readInput()
      : given.startsWith('@')
        ? await readFile(path.resolve(io.folder, given.slice(1)), 'utf8')
        : given
  const read = readJson(text.replace(/^\uFEFF/, '')) // a byte order mark, which some editors write
  const value = 'fault' in read ? null : read.value
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  const why =
    'fault' in read
      ? `${read.fault} (line ${read.position.line}, column ${read.position.column})`
      : 'It is not a JSON object.'
  throw new CommandFailure(`The input is not valid: ${why}`, `Write it like --input '{"text":"Hello"}'`, 'usage')
}
