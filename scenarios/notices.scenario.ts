import { createHmac, randomBytes, randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as wait } from 'node:timers/promises'
import { expect } from 'vitest'
import { mintId } from '@gateway/api/ids'
import { openLedgerClient, type LedgerClient } from '@gateway/ledger-client/ledger-client'
import { openFixture } from '@gateway/testbed/fixture'
import { liveTest } from '@gateway/testbed/live-test'
import { openServices } from '@gateway/testbed/service-stack'
import { processOf } from '@gateway/testbed/test-program'

// Thresholds are crossed under load while ledgers, which write the notices and record what workers post, are killed at random
// times (money §10).

const PROJECTS = 20
const CROSSINGS_EACH = 50
const CROSSINGS = PROJECTS * CROSSINGS_EACH
const CHARGE = 20
const FUNDS = 3_000
const KILLS = 5
/** Delay of the receiver's response: it is recorded later than the receiver accepts it. */
const SAYS_SO_AFTER_MS = 50
const LEDGERS = 2
const newId = (prefix: string) => mintId(prefix, Date.now(), randomBytes(10))

const test = liveTest
  /** Accepts most notices, and rejects the first attempt of the rest. */
  // oxlint-disable-next-line no-empty-pattern -- vitest reads from this pattern what a fixture needs
  .extend('receiver', async ({}, { onCleanup }) => {
    const tries = new Map<string, number>()
    const taken: { id: string; project: string; threshold: number; signedWith: (secret: string) => boolean }[] = []
    const server = createServer((req, res) => {
      void text(req).then((body) => {
        const [id, timestamp, signature] = ['id', 'timestamp', 'signature'].map((name) =>
          String(req.headers[`webhook-${name}`]),
        ) as [string, string, string]
        const seen = (tries.get(id) ?? 0) + 1
        tries.set(id, seen)
        if (seen === 1 && id.endsWith('0')) return res.writeHead(500).end()
        const { project, threshold } = JSON.parse(body).data
        const signedWith = (secret: string) => {
          const mac = createHmac('sha256', Buffer.from(secret.slice(6), 'base64'))
          return signature === `v1,${mac.update(`${id}.${timestamp}.${body}`).digest('base64')}`
        }
        taken.push({ id, project, threshold, signedWith })
        setTimeout(() => res.writeHead(204).end(), SAYS_SO_AFTER_MS)
      })
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    onCleanup(() => void server.close())
    return { taken, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` }
  })
  .extend('services', async ({ database, redis }, { onCleanup }) => {
    const { ledgerUrl } = database
    const services = await openServices({
      ledgerUrl,
      redisUrl: redis.url,
      ledgers: LEDGERS,
      gateways: 0,
      workers: LEDGERS,
      processes: ['ledger-0', 'ledger-1'],
    })
    onCleanup(services.stop)
    return services
  })

test(
  `${CROSSINGS} threshold crossings under load and kills each make one notice, delivered at least once, and no others exist`,
  { timeout: 240_000 },
  async ({ database, receiver, services: { ledgers, secrets } }) => {
    const fixture = await openFixture(database.adminUrl)
    const client = (service: 'gateway' | 'console', n: number) =>
      openLedgerClient({ url: ledgers[n]!.url, service, privateKey: secrets[service] })
    const gateways = ledgers.map((_, n) => client('gateway', n))
    const console = client('console', 0)
    const instance = newId('ins')
    await gateways[0]!.heartbeat({ instance, service: 'gateway', deadAfterMs: 60_000 })

    const owners = await fixture.tenant()
    const product = await fixture.product({ promptPico: 0n, completionPico: 1_000_000n })
    const secretOf = new Map<string, string>()
    const keys = new Map<string, string>()
    for (let n = 0; n < PROJECTS; n++) {
      const project = await fixture.project(owners, BigInt(FUNDS))
      await fixture.assign(project.id, product)
      keys.set(project.id, (await fixture.key({ project, by: owners.owner })).hash)
      await fixture.run('SELECT money.set_notice_thresholds($1, $2, NULL, NULL)', [project.id, thresholds()])
      const webhook = { id: newId('whk'), project: project.id, url: receiver.url, createdBy: owners.owner }
      const made = await console.createWebhook({ ...webhook, kind: 'standard' })
      if ('secret' in made) secretOf.set(project.id, made.secret!)
    }

    let calling = true
    const kills = killAndRestart(ledgers.map(processOf), KILLS, () => calling)
    await Promise.all(
      [...keys].map(async ([project, keyHash], at) => {
        for (let n = 0; n < CROSSINGS_EACH; n++)
          await charge(gateways[(at + n) % LEDGERS]!, { instance, keyHash, product })
        return project
      }),
    )
    calling = false
    await kills
    await killAndRestart(ledgers.map(processOf), 1, () => true) // while notices are being posted

    // A notice posted but not recorded when its ledger was killed is posted and recorded again.
    const states = () => fixture.run('SELECT state, count(*)::int FROM money.webhook_deliveries GROUP BY 1')
    await expect
      .poll(async () => (await states()).rows, { timeout: 90_000, interval: 250 })
      .toEqual([{ state: 'Delivered', count: CROSSINGS }])

    const { rows: written } = await fixture.run('SELECT id, project, threshold::int FROM money.notices')
    const expected = [...keys.keys()].flatMap((project) => thresholds().map((threshold) => `${project} ${threshold}`))
    expect(written.map(({ project, threshold }) => `${project} ${threshold}`).toSorted()).toEqual(expected.toSorted())
    expect(new Set(receiver.taken.map(({ id }) => id))).toEqual(new Set(written.map(({ id }) => id as string)))
    expect(receiver.taken.filter(({ project, signedWith }) => !signedWith(secretOf.get(project)!))).toEqual([])
    const { rows: charged } = await fixture.run('SELECT sum(settled)::int AS micro FROM money.wallets')
    expect(charged).toEqual([{ micro: CROSSINGS * CHARGE }])

    await Promise.all([...gateways, console].map((each) => each.close()))
    await fixture.close()
  },
)

/** One threshold per call of a project. */
function thresholds(): number[] {
  return Array.from({ length: CROSSINGS_EACH }, (_, n) => FUNDS - n * CHARGE)
}

/** Makes one call: retries admission until it succeeds, and settles once. */
async function charge(
  client: LedgerClient,
  { instance, keyHash, product }: { instance: string; keyHash: string; product: string },
): Promise<void> {
  for (;;) {
    const id = newId('inv')
    const promptSize = { bytes: 1, messages: 1, tools: 0, images: 0, counted: null, maxTokens: CHARGE }
    const item = {
      id,
      instance,
      keyHash,
      selector: null,
      model: product,
      parameters: [],
      promptSize,
      idempotency: null,
    }
    const outcome = await client.admit(item, { budgetMs: 5_000 }).catch(() => null)
    if (outcome?.kind !== 'admitted') {
      await client.release({ id, reason: 'not admitted' })
      continue
    }
    const usage = { promptTokens: 1, completionTokens: CHARGE, estimated: false }
    expect(await client.settle({ id, usage, answer: null })).toMatchObject({ kind: 'settled' })
    return
  }
}

async function killAndRestart(
  ledgers: { kill(): Promise<void>; start(): Promise<void> }[],
  times: number,
  goesOn: () => boolean,
): Promise<void> {
  for (let n = 0; n < times && goesOn(); n++) {
    await wait(randomInt(20, 300))
    const ledger = ledgers[n % ledgers.length]!
    await ledger.kill()
    await ledger.start()
  }
}
