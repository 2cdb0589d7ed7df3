import { randomBytes } from 'node:crypto'
import path from 'node:path'
import { test } from 'vitest'
import type { ExecutionRecord, NodeRecord } from '@gateway/api/execution'
import type { Graph, GraphNode } from '@gateway/api/graph'
import { mintId } from '@gateway/api/ids'
import { openAssetStore } from '@gateway/assets/asset-store'
import { openLedgerClient } from '@gateway/ledger-client/ledger-client'
import { startFaultProxy } from '@gateway/testbed/fault-proxy'
import { onceAWorker, openStack } from '@gateway/testbed/stack-test'
import type { KeyFixture, ProductOptions } from '@gateway/testbed/fixture'
import { openWorker, type OpenWorker } from './worker-in-process.fixture.ts'
import { workerProcesses, type WorkerProcess } from './worker-process.fixture.ts'

/* oxlint-disable no-empty-pattern -- vitest reads the needed fixtures from the pattern */

// Workers with a real ledger, a real queue and a simulated provider. Tests start executions at the ledger, as a gateway
// does. All files of a vitest worker share this stack; its only workers are those that a test starts.

const shared = onceAWorker(
  () => openStack({}, { gateways: 0, workers: 0, consoles: 0 }),
  (opened) => opened.close(),
)

export const stackTest = test
  .extend('opened', { scope: 'worker' }, ({}, { onCleanup }) => {
    onCleanup(shared.close)
    return shared.open()
  })
  .extend('stack', { scope: 'file' }, ({ opened }) => opened.services)
  .extend('redis', { scope: 'file' }, ({ opened }) => opened.redis)
  .extend('fixture', { scope: 'file' }, ({ opened }) => opened.fixture)
  .extend('assets', { scope: 'file' }, async ({ stack }, { onCleanup }) => {
    const assets = await openAssetStore({ folder: path.join(stack.folder, 'assets'), bucket: null })
    onCleanup(() => assets.close())
    return assets
  })
  .extend('ledger', { scope: 'file' }, async ({ stack }, { onCleanup }) => {
    const ledger = openLedgerClient({
      url: stack.ledgers[0]!.url,
      service: 'gateway',
      privateKey: stack.secrets.gateway,
    })
    onCleanup(() => ledger.close())
    return ledger
  })
  // Proxied connection to the ledger that tests can cut.
  .extend('proxy', async ({ stack }, { onCleanup }) => {
    const { hostname, port } = new URL(stack.ledgers[0]!.url)
    const proxy = await startFaultProxy({ host: hostname, port: Number(port) })
    onCleanup(() => proxy.close())
    return { ...proxy, ledgerUrl: proxy.through(stack.ledgers[0]!.url) }
  })
  .extend('environment', { scope: 'file' }, ({ stack, redis }) => ({
    LEDGER_URL: stack.ledgers[0]!.url,
    SERVICE_PRIVATE_KEY: stack.secrets.worker,
    REDIS_URL: redis.url,
    ASSETS_FOLDER: path.join(stack.folder, 'assets'),
    DRAIN_MS: '1000',
    SIMULATED_PROVIDER_KEY: stack.providerKey,
    PROVIDERS: JSON.stringify({
      simulated: {
        kind: 'openai-compatible',
        baseUrl: `${stack.provider.url}/v1`,
        allowPrivateAddress: true,
        apiKeyEnv: 'SIMULATED_PROVIDER_KEY',
        tries: 1,
        circuitFailures: 1_000_000,
        firstByteMs: 20_000,
      },
    }),
  }))
  .extend('startWorker', ({ stack, environment }, { onCleanup }) => {
    const started: OpenWorker[] = []
    onCleanup(async () => void (await Promise.all(started.map((worker) => worker.stop()))))
    /** Resolves once the worker is ready. */
    return async (more: Record<string, string> = {}): Promise<OpenWorker> => {
      const worker = await openWorker({ folder: stack.folder, env: { ...environment, ...more } })
      started.push(worker)
      return worker
    }
  })
  // Runs in a separate process, so tests can kill or signal it.
  .extend('startWorkerProcess', ({ environment }, { onCleanup }) => {
    const start = workerProcesses(onCleanup)
    /** Resolves once the worker is ready. */
    return async (more: Record<string, string> = {}): Promise<WorkerProcess> => {
      const worker = await start({ ...environment, ...more })
      await worker.ready()
      return worker
    }
  })
  // Project with 1 USD, one model and one key.
  .extend('tenant', async ({ stack, fixture, ledger }, { onCleanup }) => {
    onCleanup(async () => {
      await stack.provider.control.clearFaults()
      await stack.provider.control.release()
      await stack.provider.control.clearCalls()
    })
    const owners = await fixture.tenant()
    const project = await fixture.project(owners, 1_000_000n)
    /** Costs 1 micro-USD per prompt token and 2 per completion token, so charges are easy to verify by hand. */
    const publish = async (options: ProductOptions = {}) => {
      const model = await fixture.product({ promptPico: 1_000_000n, completionPico: 2_000_000n, ...options })
      await fixture.assign(project.id, model)
      return model
    }
    const model = await publish()
    const key = await fixture.key({ project, by: owners.owner })
    const id = (prefix: string) => mintId(prefix, Date.now(), randomBytes(10))

    /** Starts an execution of a flow. */
    async function start(graph: Graph, input: object, { as = key, maxMicro = null }: Trigger = {}): Promise<string> {
      const { id: sandbox } = await fixture.sandbox(project, graph)
      const answer = await ledger.startExecution({
        id: id('exe'),
        caller: { keyHash: as.hash, selector: null },
        sandbox,
        revision: null,
        surface: 'invoke',
        input,
        maxMicro,
        idempotency: null,
        trace: null,
      })
      if ('refused' in answer) throw new Error(`refused: ${JSON.stringify(answer.refused)}`)
      return answer.execution
    }

    async function record(execution: string): Promise<{ record: ExecutionRecord; done: boolean }> {
      const answer = await ledger.readExecution({ caller: null, project: project.id, execution })
      if ('refused' in answer) throw new Error(`refused: ${JSON.stringify(answer.refused)}`)
      return { record: JSON.parse(answer.record) as ExecutionRecord, done: answer.done }
    }

    /** Returns the record once the execution has ended. */
    async function ended(execution: string): Promise<ExecutionRecord> {
      for (;;) {
        const { record: found, done } = await record(execution)
        if (done) return found
        await new Promise((resolve) => setTimeout(resolve, 10))
      }
    }

    async function wallet() {
      const { rows } = await fixture.run('SELECT reserved, settled FROM money.wallets WHERE project = $1', [project.id])
      return { reserved: Number(rows[0]?.reserved ?? 0), settled: Number(rows[0]?.settled ?? 0) }
    }

    return {
      project: project.id,
      projectFixture: project,
      owners,
      model,
      key,
      publish,
      start,
      record,
      ended,
      wallet,
      run: async (graph: Graph, input: object, how: Trigger = {}) => ended(await start(graph, input, how)),
    }
  })

interface Trigger {
  as?: KeyFixture
  /** Micro-USD; null: no ceiling. */
  maxMicro?: number | null
}

/** Returns a unique prompt, so the provider's rules and log can tell calls apart. */
export function newPrompt(): string {
  return `prompt-${randomBytes(6).toString('hex')}`
}

/** Returns a side of a contract. Fields are required, and text unless defined otherwise. */
export function side(...fields: (string | [name: string, field: object])[]): Graph['input'] {
  const named = fields.map((field) => (typeof field === 'string' ? ([field, { type: 'string' }] as const) : field))
  return { type: 'object', properties: Object.fromEntries(named), required: named.map(([name]) => name) } as never
}

/** Returns a flow from `in` to `out`; edges are written `from>to`. */
export function flow(input: Graph['input'], output: Graph['output'], nodes: GraphNode[], ...edges: string[]): Graph {
  return {
    input,
    output,
    nodes: [{ id: 'in', kind: 'input' }, ...nodes, { id: 'out', kind: 'output' }],
    edges: edges.map((edge) => {
      const [from, to] = edge.split('>') as [string, string]
      return { from, to }
    }),
  }
}

/** Returns a flow with one chat call: `prompt` in, `text` out. */
export function oneChat(product: string, more: object = {}): Graph {
  const chat = { id: 'chat', kind: 'product.chat', product, ...more }
  return flow(side('prompt'), side('text'), [chat], 'in.prompt>chat.prompt', 'chat.text>out.text')
}

export function nodeOf({ nodes }: ExecutionRecord, id: string): NodeRecord {
  return nodes.find((node) => node.id === id)!
}
