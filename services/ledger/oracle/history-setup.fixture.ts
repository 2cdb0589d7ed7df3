import { equal } from 'node:assert/strict'
import type { Database } from '@gateway/database/client'
import { removeBudget, setBudget } from '../src/budgets/budgets.ts'
import type { Price } from '@gateway/pricing/price'
import type { Fixture, KeyFixture, ProjectFixture } from '@gateway/testbed/fixture'
import { randomBytes } from 'node:crypto'
import { rotateKey } from '../src/fixtures/execution-rows.ts'
import type { Book, KeyFacts, ProductFacts } from './book.ts'
import { buildExecutions, type SetupExecutions } from './history-executions.fixture.ts'

// The tenants of random histories, both in the tables and as a book: with scarce and with ample funds, and one key for
// each kind of refusal.

export interface HistorySetup {
  book: Book
  tenant: string
  projects: string[]
  keyHashes: string[]
  models: string[]
  executions: SetupExecutions
  instances: Record<'alive' | 'ended', string>
  fund(project: string, micro: bigint): void
  /** Sets or removes the budget of a user, a team or a tag. */
  setBudget(replica: Database, wanted: { which: number; more: number | null; hard: boolean }): Promise<void>
  /** Revokes one of the keys. */
  revoke(which: number): Promise<void>
  /** Pauses one of the keys, or resumes it. */
  pause(which: number): Promise<void>
  /** Rotates one of the keys, sometimes one that is itself a replacement. */
  rotate(which: number): Promise<void>
  /** Ends the living instance and starts another one. */
  endInstance(): Promise<void>
}

const FUNDS = [40_000n, 3_000_000n, 0n]
/** Thresholds of each project, close to its funds so that they are crossed repeatedly. */
const THRESHOLDS = { below: [2_950_000n, 2_500_000n, 39_000n, 20_000n, 5_000n, 1n], percents: [10n, 50n, 90n, 100n] }
const SUPPORTED = ['temperature', 'tools', 'response_format']

/** The first keys may call; each of the others is refused for a different reason. */
const GOOD_KEYS = 9

const often = <T>(things: T[], times: number): T[] => Array.from({ length: times }, () => things).flat()

export async function buildHistorySetup(fixture: Fixture): Promise<HistorySetup> {
  const owners = await fixture.tenant()
  const projects: ProjectFixture[] = []
  for (const funds of FUNDS) projects.push(await fixture.project(owners, funds))
  const [poor, rich, empty] = projects as [ProjectFixture, ProjectFixture, ProjectFixture]

  const products: ProductFacts[] = []
  async function product(
    price: Price,
    contextLength: number,
    maxTokensPerImage: number | null,
    kind: 'chat' | 'image' | 'audio' = 'chat',
    takesFiles = maxTokensPerImage === 1_000 || kind === 'image',
  ) {
    const id = await fixture.product({
      ...price,
      kind,
      contextLength,
      maxOutputTokens: 8192,
      supportedParameters: SUPPORTED,
      maxTokensPerImage,
      takesFiles,
      tokensPerByteMillionths: 333_333,
    })
    products.push({
      id,
      price,
      overheads: {
        tokensPerByteMillionths: 333_333n,
        perMessage: 8n,
        perTool: 16n,
        fixedWithTools: 64n,
        maxTokensPerImage: maxTokensPerImage === null ? null : BigInt(maxTokensPerImage),
      },
      bounded: kind === 'chat' || price.requestPico === 0n,
      contextLength: BigInt(contextLength),
      maxOutputTokens: 8192n,
      supportedParameters: new Set(SUPPORTED),
      takesFiles,
    })
    for (const { id: project } of projects) await fixture.assign(project, id)
  }
  const parts = { cachedPico: 15_007n, cacheWritePico: 187_503n, reasoningPico: 0n }
  await product({ promptPico: 150_000n, completionPico: 600_001n, requestPico: 0n, ...parts }, 128_000, null)
  await product({ promptPico: 0n, completionPico: 0n, requestPico: 1_234_567_891n }, 20_000, 1_000)
  await product({ promptPico: 0n, completionPico: 0n, requestPico: 0n }, 64_000, 500)
  const chats = products.length
  await product({ promptPico: 0n, completionPico: 0n, requestPico: 700_000_001n }, 100, null, 'image')
  await product({ promptPico: 0n, completionPico: 0n, requestPico: 400_000_003n }, 12_000, null, 'audio')
  const draft = await fixture.product({ state: 'draft' })
  await fixture.assign(rich.id, draft)
  const unassigned = await fixture.product()

  const keys = new Map<string, KeyFacts>()
  const made: KeyFixture[] = []
  async function key(
    project: ProjectFixture | null,
    options: Partial<Parameters<Fixture['key']>[0]> & { issuerAuthorized?: boolean } = {},
  ) {
    const { issuerAuthorized = true, by = issuerAuthorized ? owners.owner : await fixture.user(), ...rest } = options
    const key = await fixture.key({ project, by, tenant: owners.tenant, ...rest })
    made.push(key)
    keys.set(key.hash, {
      id: key.id,
      project: project?.id ?? null,
      lineage: key.id,
      policy: options.policy ?? 'all-eligible',
      resources: new Set(options.resources),
      limit: options.limit ?? null,
      expiresAtMs: options.expiresInMs !== undefined && options.expiresInMs <= 0 ? 0 : null,
      revoked: options.revoked ?? false,
      paused: false,
      rotated: null,
      issuerAuthorized,
      user: by,
      tag: options.tag ?? null,
    })
  }
  await key(poor)
  await key(poor, { limit: { micro: 9_000n, reset: 'daily' } })
  await key(rich)
  await key(rich, { limit: { micro: 12_000n, reset: 'lifetime' } })
  await key(rich, { limit: { micro: 60_000n, reset: 'weekly' } })
  await key(rich, { policy: 'listed', resources: [products[0]!.id, products[chats]!.id] })
  await key(rich, { tag: 'batch' })
  const colleague = await fixture.issuer(rich)
  await fixture.run(`INSERT INTO control.project_grants (project, user_id, role) VALUES ($1, $2, 'Project Consumer')`, [
    poor.id,
    colleague,
  ])
  await key(rich, { by: colleague })
  await key(poor, { by: colleague })
  await key(empty)
  await key(rich, { revoked: true })
  await key(rich, { expiresInMs: -1_000 })
  await key(null)
  await key(rich, { issuerAuthorized: false })

  const newInstance = async () => {
    const instance = `ins_${randomBytes(6).toString('hex')}`
    await fixture.run(
      `INSERT INTO money.instances (id, service, started_at, heartbeat_at, dead_after_ms) VALUES ($1, 'gateway', now(), now(), 15000)`,
      [instance],
    )
    return instance
  }
  const [alive, ended] = [await newInstance(), await newInstance()]
  const liveInstances = new Set([alive])
  await fixture.run('UPDATE money.instances SET ended_at = now() WHERE id = $1', [ended])
  const instances = { alive, ended }
  const everywhere = (some: ProductFacts[]) =>
    new Map(projects.flatMap(({ id }) => some.map((product) => [`${id} ${product.id}`, product] as const)))
  const keyHashes = [...often([...keys.keys()].slice(0, GOOD_KEYS), 4), ...keys.keys(), 'f'.repeat(64)]
  for (const { id } of projects)
    await fixture.run('SELECT money.set_notice_thresholds($1, $2, $3, NULL)', [
      id,
      THRESHOLDS.below,
      THRESHOLDS.percents,
    ])
  const executions = await buildExecutions(fixture, { owners, rich, poor, keys })
  const book: Book = {
    keys,
    callable: everywhere(products.slice(0, chats)),
    callableByExecutions: everywhere(products),
    executions: executions.facts,
    nodes: executions.nodes,
    chargedNodes: new Set(),
    factors: new Map(),
    liveInstances,
    wallets: new Map(projects.map(({ id }, n) => [id, { funded: FUNDS[n]!, reserved: 0n, settled: 0n }])),
    meters: new Map(),
    budgets: new Map(),
    team: owners.team,
    open: new Map(),
    closed: new Map(),
    writeOffs: new Map(),
    thresholds: new Map(projects.map(({ id }) => [id, THRESHOLDS])),
    notices: [],
    idempotency: new Map(),
  }
  return {
    book,
    tenant: owners.tenant,
    projects: projects.map(({ id }) => id),
    keyHashes,
    executions,
    models: [
      ...often([products[0]!.id], 8),
      ...often([products[1]!.id, products[2]!.id], 2),
      ...products.slice(chats).map(({ id }) => id),
      draft,
      unassigned,
      'acme/nothing',
    ],
    instances,
    fund(project, micro) {
      const wallet = book.wallets.get(project)!
      book.wallets.set(project, { ...wallet, funded: wallet.funded + micro })
    },
    async setBudget(replica, { which, more, hard }) {
      const subjects = [
        { kind: 'tag', subject: 'batch' },
        { kind: 'user', subject: colleague },
        { kind: 'team', subject: owners.team },
        { kind: 'tag', subject: 'chat' },
        { kind: 'user', subject: owners.owner },
      ] as const
      const one = subjects[which % subjects.length]!
      const target = `${one.kind} ${one.subject}`
      const [id, before] = [...book.budgets].find(([, budget]) => budget.target === target) ?? [
        `bud_${randomBytes(6).toString('hex')}`,
        { windowStartMs: 0, spent: 0n, reserved: 0n },
      ]
      if (more === null) {
        const { found } = await removeBudget({ reads: replica }, { id, tenant: owners.tenant })
        equal(found, book.budgets.has(id))
        if (found) book.budgets.set(id, { ...book.budgets.get(id)!, target: null })
        return
      }
      const limit = before.spent + before.reserved + BigInt(more)
      if (limit <= 0n) return
      const by = { tenant: owners.tenant, createdBy: owners.owner }
      await setBudget({ reads: replica }, { id, ...by, ...one, limitMicro: Number(limit), hard })
      book.budgets.set(id, { ...before, target, limit, hard })
    },
    async revoke(which) {
      const [hash, facts] = [...keys][which % keys.size]!
      if (facts.revoked || which % 4 > 0) return // most keys stay valid
      await fixture.run('UPDATE control.keys SET revoked_at = now() WHERE id = $1', [facts.id])
      keys.set(hash, { ...facts, revoked: true })
    },
    async pause(which) {
      const [hash, facts] = [...keys][which % keys.size]!
      if (facts.revoked || facts.rotated || facts.project === null) return
      const paused = !facts.paused
      await fixture.run('UPDATE control.keys SET paused_at = CASE WHEN $2 THEN now() END WHERE id = $1', [
        facts.id,
        paused,
      ])
      keys.set(hash, { ...facts, paused })
    },
    async rotate(which) {
      const old = made[which % made.length]!
      const facts = keys.get(old.hash)!
      if (facts.revoked || facts.paused || facts.rotated || facts.project === null) return
      const replacement = await rotateKey(fixture, old)
      keys.set(old.hash, { ...facts, rotated: { graceUntilMs: null } })
      keys.set(replacement.hash, { ...facts, id: replacement.id, expiresAtMs: null })
      made.push(replacement)
      // The replacement is used as often as the old key was; the old key is still used occasionally.
      const places = keyHashes.flatMap((hash, n) => (hash === old.hash ? [n] : []))
      for (const place of places.slice(1)) keyHashes[place] = replacement.hash
      if (places.length < 2) keyHashes.push(replacement.hash)
    },
    async endInstance() {
      await fixture.run('UPDATE money.instances SET ended_at = now() WHERE id = $1', [instances.alive])
      liveInstances.delete(instances.alive)
      instances.ended = instances.alive
      instances.alive = await newInstance()
      liveInstances.add(instances.alive)
    },
  }
}
