import { expect } from 'vitest'
import { openNodeQueue } from '@gateway/node-queue/node-queue'
import { Redis } from 'ioredis'
import { flow, stackTest, newPrompt, nodeOf, oneChat, side } from './stack.fixture.ts'

const SOON = { timeout: 20_000, interval: 20 }

// spec: 8.2/s1
stackTest(
  'after a worker is killed during a call, the node runs again and is charged once',
  async ({ startWorker, startWorkerProcess, tenant, stack }) => {
    const { control } = stack.provider
    const [first, prompt] = [await startWorkerProcess(), newPrompt()]
    await control.setFaults([{ prompt, hold: true, times: 1 }])
    const execution = await tenant.start(oneChat(tenant.model), { prompt })
    await control.waitForCalls(1, { prompt })
    await startWorker()
    first.signal('SIGKILL')
    const record = await tenant.ended(execution)
    await control.release()
    expect(record).toMatchObject({ status: 'Succeeded' })
    expect(await control.countCalls({ prompt })).toBe(2)
    expect(await tenant.wallet()).toEqual({ reserved: 0, settled: nodeOf(record, 'chat').chargedMicro })
  },
)

stackTest(
  'a stopping worker gives back a node it cannot finish, and another worker runs it',
  async ({ startWorker, startWorkerProcess, tenant, stack }) => {
    const { control } = stack.provider
    const [first, prompt] = [await startWorkerProcess({ DRAIN_MS: '100' }), newPrompt()]
    await control.setFaults([{ prompt, hold: true, times: 1 }])
    const execution = await tenant.start(oneChat(tenant.model), { prompt })
    await control.waitForCalls(1, { prompt })
    await startWorker()
    first.signal('SIGTERM')
    expect(await first.ended).toBe(0)
    const record = await tenant.ended(execution)
    expect(record).toMatchObject({ status: 'Succeeded' })
    expect(await control.waitForCalls(1, { prompt, outcome: 'aborted' })).toBe(1)
    expect(await tenant.wallet()).toEqual({ reserved: 0, settled: nodeOf(record, 'chat').chargedMicro })
  },
)

stackTest(
  'a stopping worker finishes a node that ends within its drain time',
  async ({ startWorkerProcess, tenant, stack }) => {
    const { control } = stack.provider
    const [worker, prompt] = [await startWorkerProcess({ DRAIN_MS: '10000' }), newPrompt()]
    await control.setFaults([{ prompt, hold: true }])
    const execution = await tenant.start(oneChat(tenant.model), { prompt })
    await control.waitForCalls(1, { prompt })
    worker.signal('SIGTERM')
    await expect.poll(() => worker.log().map(({ message }) => message), SOON).toContain('stopping')
    await control.release()
    expect(await worker.ended).toBe(0)
    const { record } = await tenant.record(execution)
    expect(nodeOf(record, 'chat')).toMatchObject({ status: 'Succeeded' })
    expect(await control.countCalls({ prompt })).toBe(1)
  },
)

// spec: 8.2/s2
stackTest(
  'a job delivered twice calls the provider once',
  async ({ startWorker, tenant, stack, redis: { url: redisUrl }, onTestFinished }) => {
    const { control } = stack.provider
    await startWorker({ CONCURRENCY: '1' }) // has no free slot for the second delivery
    const prompt = newPrompt()
    await control.setFaults([{ prompt, hold: true }])
    const execution = await tenant.start(oneChat(tenant.model), { prompt })
    await control.waitForCalls(1, { prompt })

    const second = await startWorker()
    const redis = new Redis(redisUrl)
    onTestFinished(() => redis.disconnect())
    await redis.flushdb() // loses the lock and the job, so its id is free
    const queue = openNodeQueue({ redisUrl })
    onTestFinished(() => queue.close())
    await queue.enqueue([{ execution, node: 'chat', attempt: 1 }])
    await expect.poll(second.metrics, SOON).toMatch(/^worker_jobs_nothing_to_do_total\{.*\} 1\b/m)

    await control.release()
    expect(await tenant.ended(execution)).toMatchObject({ status: 'Succeeded' })
    expect(await control.countCalls({ prompt })).toBe(1)
  },
)

stackTest(
  'results that cannot be written are quarantined, other nodes of the project fail fast [unavailable], and all are charged later',
  async ({ startWorker, tenant, stack, fixture }) => {
    const { control } = stack.provider
    const [worker, prompt] = [await startWorker(), newPrompt()]
    await control.setFaults([{ prompt, hold: true }])
    const executions = await Promise.all([1, 2, 3].map(() => tenant.start(oneChat(tenant.model), { prompt })))
    await control.waitForCalls(3, { prompt })
    const { reserved } = await tenant.wallet()
    const itsWallet = 'SELECT project FROM money.executions WHERE id = $2'
    const setReserved = (micro: number) =>
      fixture.run(`UPDATE money.wallets SET reserved = $1 WHERE project = (${itsWallet})`, [micro, executions[0]])
    await setReserved(0)
    await control.release()
    await expect
      .poll(worker.metrics, SOON)
      .toMatch(/^worker_nodes_ended_total\{kind="product.chat",outcome="quarantined".*\} 3\b/m)
    const refused = await tenant.ended(await tenant.start(oneChat(tenant.model), { prompt: newPrompt() }))
    expect(refused).toMatchObject({ status: 'Failed', error: { code: 'unavailable' } })

    await setReserved(reserved)
    const records = await Promise.all(executions.map((execution) => tenant.ended(execution)))
    expect(records.map(({ status }) => status)).toEqual(['Succeeded', 'Succeeded', 'Succeeded'])
    expect(await control.countCalls({ prompt })).toBe(3)
    const settled = records.reduce((sum, record) => sum + (nodeOf(record, 'chat').chargedMicro ?? 0), 0)
    expect(await tenant.wallet()).toEqual({ reserved: 0, settled })
  },
)

stackTest(
  'a result that arrives while the ledger is down is recorded once it is back',
  async ({ startWorker, tenant, stack, proxy }) => {
    const { control } = stack.provider
    await startWorker({ LEDGER_URL: proxy.ledgerUrl })
    const prompt = newPrompt()
    await control.setFaults([{ prompt, hold: true }])
    const execution = await tenant.start(oneChat(tenant.model), { prompt })
    await control.waitForCalls(1, { prompt })
    await proxy.down()
    await control.release()
    await control.waitForCalls(1, { prompt, outcome: 'finished' })
    await proxy.up()
    expect(await tenant.ended(execution)).toMatchObject({ status: 'Succeeded' })
    expect(await control.countCalls({ prompt })).toBe(1)
  },
)

stackTest(
  'a worker that loses the ledger gives up a free node, which another one runs',
  async ({ startWorker, tenant, proxy }) => {
    await startWorker({ LEDGER_URL: proxy.ledgerUrl, CONCURRENCY: '1' })
    proxy.latency(20)
    const steps = Array.from({ length: 16 }, (_, n) => ({ id: `t${n}`, kind: 'template', template: '{{ text }}' }))
    const ends = ['in', ...steps.map(({ id }) => id), 'out']
    const line = ends.slice(1).map((to, n) => `${ends[n]!}.text>${to}.text`)
    const execution = await tenant.start(flow(side('text'), side('text'), steps, ...line), { text: 'kept' })
    const status = async () => nodeOf((await tenant.record(execution)).record, 't2').status
    await expect.poll(status, SOON).toBe('Succeeded')
    await proxy.stall('toServer') // holds a result back
    await proxy.down()
    await startWorker()
    expect(await tenant.ended(execution)).toMatchObject({ status: 'Succeeded', output: { text: 'kept' } })
  },
)

stackTest(
  'a worker presumed dead is fenced, charges nothing and continues with new work',
  async ({ startWorker, tenant, stack, proxy }) => {
    const { control } = stack.provider
    const first = await startWorker({ LEDGER_URL: proxy.ledgerUrl })
    const prompt = newPrompt()
    await control.setFaults([{ prompt, hold: true, times: 1 }])
    const execution = await tenant.start(oneChat(tenant.model), { prompt })
    await control.waitForCalls(1, { prompt })
    await proxy.down()
    const second = await startWorker()
    const record = await tenant.ended(execution)
    expect(record).toMatchObject({ status: 'Succeeded' })
    await control.release()
    await proxy.up()
    await expect
      .poll(first.metrics, SOON)
      .toMatch(/^worker_nodes_ended_total\{kind="product.chat",outcome="fenced".*\} 1\b/m)
    expect(await tenant.wallet()).toEqual({ reserved: 0, settled: nodeOf(record, 'chat').chargedMicro })

    await second.stop()
    expect(await tenant.run(oneChat(tenant.model), { prompt: newPrompt() })).toMatchObject({ status: 'Succeeded' })
  },
)

stackTest(
  'when a node fails, a concurrent call of the execution is cancelled and not charged',
  async ({ startWorker, tenant, stack }) => {
    const { control } = stack.provider
    await startWorker()
    const [slow, wrong] = [newPrompt(), newPrompt()]
    await control.setFaults([
      { prompt: slow, stall: 'before-first-byte' },
      { prompt: wrong, hold: true, status: 500 },
    ])
    const execution = await tenant.start(twoChats(tenant.model), { one: slow, two: wrong })
    await control.waitForCalls(1, { prompt: slow })
    await control.waitForCalls(1, { prompt: wrong })
    await control.release()
    const record = await tenant.ended(execution)
    expect(record).toMatchObject({ status: 'Failed', error: { code: 'provider_failed' }, chargedMicro: 0 })
    expect(nodeOf(record, 'one')).toMatchObject({ status: 'Failed', error: { code: 'node_failed' } })
    expect(nodeOf(record, 'out')).toMatchObject({ status: 'Pending' })
    expect(await control.waitForCalls(1, { prompt: slow, outcome: 'aborted' })).toBe(1)
    expect(await tenant.wallet()).toEqual({ reserved: 0, settled: 0 })
  },
)

// spec: 2.4/s3, 7/s1, 7/s5
stackTest(
  'concurrent calls run as far as the wallet can cover them, and one it cannot cover fails',
  async ({ startWorker, tenant, stack, fixture }) => {
    const { control } = stack.provider
    const worker = await startWorker()
    const price = 600_000_000_000n // 0.60 USD per call, with 1.30 USD in the wallet
    const model = await tenant.publish({ requestPico: price })
    await fixture.fund(tenant.project, 300_000n)
    const prompts = [newPrompt(), newPrompt()]
    await control.setFaults(prompts.map((prompt) => ({ prompt, hold: true as const })))
    const execution = await tenant.start(threeChats(model), { one: prompts[0], two: prompts[1], three: prompts[0] })
    await control.waitForCalls(2)
    await expect.poll(tenant.wallet, SOON).toEqual({ reserved: 1_200_000, settled: 0 })
    await control.release()
    await control.clearFaults()
    await expect.poll(tenant.wallet, SOON).toMatchObject({ settled: 1_200_000 })
    // The third call never fits: no reservation is left whose release it could wait for.
    const record = await tenant.ended(execution)
    expect(record).toMatchObject({ status: 'Failed', error: { code: 'insufficient_budget' }, chargedMicro: 1_200_000 })
    expect(await worker.metrics()).toMatch(/^worker_funds_wait_(seconds_)?count\{outcome="refused".*\} 1\b/m)
  },
)

stackTest(
  'a call that waits for funds runs once another call releases its reservation',
  async ({ startWorker, tenant, stack }) => {
    const { control } = stack.provider
    await startWorker()
    const model = await tenant.publish({ requestPico: 600_000_000_000n })
    const [one, two] = [newPrompt(), newPrompt()]
    await control.setFaults([
      { prompt: one, hold: true, status: 500 },
      { prompt: two, hold: true, status: 500 },
    ])
    // Two executions, so the failure of one does not fail the other.
    const executions = [
      await tenant.start(oneChat(model), { prompt: one }),
      await tenant.start(oneChat(model), { prompt: two }),
    ]
    await control.waitForCalls(1)
    await control.setFaults([])
    await control.release()
    const records = await Promise.all(executions.map(tenant.ended))
    expect(records.map(({ status }) => status).toSorted()).toEqual(['Failed', 'Succeeded'])
    expect(await tenant.wallet()).toEqual({ reserved: 0, settled: 600_000 })
  },
)

stackTest(
  'a call that fits the wallet only by an exact count waits for funds too',
  async ({ startWorker, tenant, stack, fixture }) => {
    const { control } = stack.provider
    await startWorker()
    const held = newPrompt()
    const [large, counted] = [
      await tenant.publish({ requestPico: 900_000_000_000n }),
      // Output reserves 0.15 USD, the prompt 1.20 USD by its bytes and at most 0.25 USD by its tokens; the wallet has 1 USD.
      await tenant.publish({
        promptPico: 20_000_000n,
        completionPico: 1_500_000_000n,
        tokensPerByteMillionths: 1_000_000,
      }),
    ]
    await fixture.run(`UPDATE control.products SET tokenizer = 'o200k_base' WHERE id = $1`, [counted])
    await control.setFaults([{ prompt: held, hold: true, status: 500 }])
    const first = await tenant.start(oneChat(large), { prompt: held })
    await control.waitForCalls(1, { prompt: held })
    const waiting = await tenant.start(oneChat(counted, { params: { max_tokens: 100 } }), {
      prompt: 'token '.repeat(10_000),
    })
    const status = async () => nodeOf((await tenant.record(waiting)).record, 'chat').status
    await expect.poll(status, SOON).not.toBe('Pending')
    // By the time a later call has ended, the first admission of the waiting one is refused.
    expect(await tenant.run(oneChat(tenant.model), { prompt: newPrompt() })).toMatchObject({ status: 'Succeeded' })
    await control.clearFaults()
    await control.release()
    expect(await tenant.ended(waiting)).toMatchObject({ status: 'Succeeded' })
    expect(await tenant.ended(first)).toMatchObject({ status: 'Failed' })
  },
)

// spec: 8.2/r7
stackTest(
  'a call in progress at the deadline of its execution is cancelled [execution_timeout]',
  async ({ startWorker, tenant, stack, fixture }) => {
    const { control } = stack.provider
    await startWorker()
    const [first, prompt] = [newPrompt(), newPrompt()]
    const nodes = [
      { id: 'one', kind: 'product.chat', product: tenant.model },
      { id: 'two', kind: 'product.chat', product: tenant.model },
    ]
    const edges = ['in.first>one.prompt', 'one.text>two.prompt', 'in.second>two.system', 'two.text>out.text']
    await control.setFaults([
      { prompt, stall: 'before-first-byte' },
      { prompt: first, hold: true },
    ])
    const graph = flow(side('first', 'second'), side('text'), nodes, ...edges)
    const execution = await tenant.start(graph, { first, second: prompt })
    await control.waitForCalls(1, { prompt: first })
    // Late enough for the second call to have started.
    await fixture.run(
      `UPDATE money.executions SET deadline_at = now() + interval '2 seconds', version = version + 1 WHERE id = $1`,
      [execution],
    )
    await control.release()
    const record = await tenant.ended(execution)
    expect(record).toMatchObject({ status: 'Failed', error: { code: 'execution_timeout' } })
    expect(nodeOf(record, 'two')).toMatchObject({
      status: 'Failed',
      error: { code: 'execution_timeout' },
      chargedMicro: 0,
    })
    expect(record.chargedMicro).toBe(nodeOf(record, 'one').chargedMicro)
    expect(record.chargedMicro).toBeGreaterThan(0)
  },
)

function twoChats(product: string) {
  const nodes = ['one', 'two'].map((id) => ({ id, kind: 'product.chat', product }))
  const edges = ['one', 'two'].flatMap((id) => [`in.${id}>${id}.prompt`, `${id}.text>out.${id}`])
  return flow(side('one', 'two'), side('one', 'two'), nodes, ...edges)
}

function threeChats(product: string) {
  const ids = ['one', 'two', 'three']
  const nodes = ids.map((id) => ({ id, kind: 'product.chat', product }))
  const edges = ids.flatMap((id) => [`in.${id}>${id}.prompt`, `${id}.text>out.${id}`])
  return flow(side(...ids), side(...ids), nodes, ...edges)
}
