import { randomBytes } from 'node:crypto'
import { projectTokenPermission, tenantTokenPermission } from '@gateway/api/console/access-tokens'
import type { Graph } from '@gateway/api/graph'
import { operationNamed, exampleRequest, type OwnNames, type ExampleName } from '@gateway/testbed/example-request'
import type { ProjectFixture } from '@gateway/testbed/fixture'
import type { FuzzStack } from './fuzz-stack.ts'
import type { Chance } from './chance.ts'

/** An organization with everything that the examples of the document name, and callers of each kind. */
export interface World {
  /** Values for the names in the examples. */
  names: Partial<OwnNames>
  /** The same where the project without funds has different ones. */
  unfunded: Partial<OwnNames>
  /** Active flows: without a model, with one, and with a branch and an image. */
  sandboxes: string[]
  /** Models of text, images and audio. */
  products: string[]
  secrets: Record<WorldCaller, string>
  pool: Pool
  /** IDs that no request may delete. */
  kept: ReadonlySet<string>
  /** Requests sent in it so far. */
  requests: number
}

export type WorldCaller = (typeof worldCallers)[number]
export const worldCallers = [
  'key',
  'unfundedKey',
  'limitedKey',
  'legacyKey',
  'revokedKey',
  'expiredKey',
  'owner',
  'admin',
  'member',
  'consumer',
  'tenantToken',
  'projectToken',
  'endedToken',
  'spare',
] as const

const FUNDS = 10n ** 12n
const at = '/api/v2/tenants/{tenant}'
const project = `${at}/projects/{project}`

/** Creates one in the tables, except for what only the services can create. */
export async function createWorld({ fixture, services }: FuzzStack): Promise<World> {
  const of = await fixture.tenant()
  const { tenant, team, owner } = of
  await fixture.run('UPDATE control.users SET platform_operator = true WHERE id = $1', [owner])
  const [own, unfunded] = [await fixture.project(of, FUNDS), await fixture.project(of)]
  const products = [
    await fixture.publishProduct({ takesFiles: true, maxTokensPerImage: 1_000 }),
    await fixture.publishProduct({ kind: 'image' }),
    await fixture.publishProduct({ kind: 'audio' }),
  ]
  const embeddingProduct = await fixture.publishProduct({
    kind: 'embedding',
    completionPico: 0n,
    supportedParameters: ['dimensions'],
  })
  for (const { id } of [own, unfunded]) await fixture.assign(id, ...products, embeddingProduct)
  const [chat, image] = products as [string, string, string]
  const flowIn = async (project: ProjectFixture, graph: Graph) =>
    (await fixture.sandbox(project, graph, { mcpEnabled: true })).id
  const sandboxes = [
    await flowIn(own, exampleGraph(chat)),
    await flowIn(own, freeGraph),
    await flowIn(own, illustratedGraph(chat, image)),
  ]

  const keyOf = async (of: ProjectFixture | null, more: object = {}) =>
    fixture.key({ project: of, by: owner, tenant, ...more })
  const key = await keyOf(own)
  const tokenOf = async (user: string, more = {}) => fixture.token(user, { expiresInMs: 86_400_000, ...more })
  const [admin, member, spare] = [await fixture.user(), await fixture.user(), await fixture.user()]
  for (const user of [member, spare])
    await fixture.run(`INSERT INTO control.memberships (tenant, user_id, role) VALUES ($1, $2, 'Member')`, [
      tenant,
      user,
    ])
  await fixture.run(`INSERT INTO control.memberships (tenant, user_id, role) VALUES ($1, $2, 'Admin')`, [tenant, admin])
  await fixture.run(`INSERT INTO control.project_grants (project, user_id, role) VALUES ($1, $2, 'Project Owner')`, [
    own.id,
    admin,
  ])
  const consumer = await fixture.issuer(own)
  const token = await tokenOf(owner)
  const tokens = {
    tenant: await fixture.accessToken({ tenant, project: null, permissions: tenantTokenPermission.options }),
    project: await fixture.accessToken({ tenant, project: own.id, permissions: projectTokenPermission.options }),
  }
  const secrets: World['secrets'] = {
    key: key.secret,
    unfundedKey: (await keyOf(unfunded)).secret,
    limitedKey: (await keyOf(own, { limit: { micro: 300n, reset: 'daily' } })).secret,
    legacyKey: (await keyOf(null)).secret,
    revokedKey: (await keyOf(own, { revoked: true })).secret,
    expiredKey: (await keyOf(own, { expiresInMs: -1 })).secret,
    owner: token.secret,
    admin: (await tokenOf(admin)).secret,
    member: (await tokenOf(member)).secret,
    consumer: (await tokenOf(consumer)).secret,
    tenantToken: tokens.tenant.secret,
    projectToken: tokens.project.secret,
    endedToken: (await tokenOf(owner, { expiresInMs: -1 })).secret,
    spare: (await tokenOf(spare)).secret,
  }
  const names: Partial<OwnNames> = {
    tenant,
    team,
    user: consumer,
    project: own.id,
    key: key.id,
    product: chat,
    embeddingProduct,
    sandbox: sandboxes[0]!,
    token: token.id,
    accessToken: tokens.tenant.id,
    email: `${spare}@example.test`,
    number: '1',
    ...thisMonth(),
  }

  const gateway = services.gateways[0]!.url
  // oxlint-disable-next-line typescript/no-explicit-any -- an API response, as a client sees it
  async function make(name: string, secret: string, body?: object): Promise<any> {
    const request = exampleRequest(operationNamed(name), {
      ...names,
      ...freshNames(randomBytes(6).toString('hex')),
    } as OwnNames)
    const sent = body ?? request.body
    const answer = await fetch(gateway + request.path, {
      method: request.method,
      headers: { authorization: `Bearer ${secret}`, ...request.headers },
      body: sent instanceof Buffer ? new Uint8Array(sent) : JSON.stringify(sent),
    })
    const text = await answer.text()
    if (!answer.ok) throw new Error(`${name}: ${answer.status} ${text}`)
    return text === '' ? null : (JSON.parse(text) as unknown)
  }

  names.password = `a sentence of ${randomBytes(6).toString('hex')}`
  await make('PUT /api/v2/me/password', secrets.spare, { password: names.password })
  await make(`PUT ${project}/notices/thresholds`, secrets.owner)
  names.webhook = (await make(`POST ${project}/webhooks`, secrets.owner, { url: NO_RECEIVER })).webhook.id
  names.notice = (await make(`POST ${project}/webhooks/{webhook}/test`, secrets.owner)).notice
  names.invocation = (await make('POST /v1/chat/completions', secrets.key)).id
  names.execution = (await make('POST /v1/sandbox/{id}/invoke', secrets.key)).id
  names.asset = (await make('POST /v1/assets', secrets.key)).asset
  const other = { project: unfunded.id, sandbox: await flowIn(unfunded, freeGraph) }
  return {
    names,
    unfunded: other,
    sandboxes,
    products,
    secrets,
    pool: openPool(),
    kept: new Set([
      ...Object.values(names),
      ...Object.values(other),
      ...sandboxes,
      ...products,
      owner,
      admin,
      member,
      spare,
    ]),
    requests: 0,
  }
}

/** Nothing listens there: deliveries fail at once. */
export const NO_RECEIVER = 'http://127.0.0.1:9/notices'

/** Values that no other request uses. */
export function freshNames(text: string): Partial<OwnNames> {
  return {
    newEmail: `${text}@example.test`,
    newProduct: `acme/${text}`,
    idempotencyKey: `fuzz-${text}`,
    fundingId: `funding-${text}`,
    correctionId: `correction-${text}`,
    newPassword: `another ${text} sentence`,
  }
}

function thisMonth(): Pick<OwnNames, 'month' | 'from' | 'to'> {
  const month = new Date().toISOString().slice(0, 7)
  return { month, from: `${month}-01T00:00:00Z`, to: `${month}-28T00:00:00Z` }
}

/** The documented flow, with a model of this organization. */
function exampleGraph(chat: string): Graph {
  const { requestBody } = operationNamed(`POST ${at}/sandboxes/{sandbox}/revisions`)
  const text = JSON.stringify(requestBody!.content['application/json']!.example)
  return (JSON.parse(text.replaceAll('acme/swift', chat)) as { graph: Graph }).graph
}

const topic: Graph['input'] = { type: 'object', properties: { topic: { type: 'string' } }, required: ['topic'] }
const text: Graph['output'] = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] }

export const freeGraph: Graph = {
  input: topic,
  output: text,
  nodes: [
    { id: 'in', kind: 'input' },
    { id: 'long', kind: 'branch', condition: 'size(topic) > 10' },
    { id: 'twice', kind: 'expression', expression: 'topic + topic' },
    { id: 'out', kind: 'output' },
  ],
  edges: [
    { from: 'in.topic', to: 'long.topic' },
    { from: 'long.false.topic', to: 'twice.topic' },
    { from: 'twice.value', to: 'out.text' },
    { from: 'long.true.topic', to: 'out.text' },
  ],
}

function illustratedGraph(chat: string, image: string): Graph {
  return {
    input: topic,
    output: { ...text, properties: { ...text.properties, picture: { type: 'object', format: 'image' } } },
    nodes: [
      { id: 'in', kind: 'input' },
      { id: 'ask', kind: 'template', template: 'Write about {{ topic }}.' },
      { id: 'draft', kind: 'product.chat', product: chat, params: { max_tokens: 50 } },
      { id: 'long', kind: 'branch', condition: 'size(text) > 60' },
      { id: 'shorten', kind: 'template', template: 'Shorten: {{ text }}' },
      { id: 'trim', kind: 'product.chat', product: chat, params: { max_tokens: 20 } },
      { id: 'draw', kind: 'product.image', product: image },
      { id: 'out', kind: 'output' },
    ],
    edges: [
      { from: 'in.topic', to: 'ask.topic' },
      { from: 'ask.text', to: 'draft.prompt' },
      { from: 'draft.text', to: 'long.text' },
      { from: 'long.true.text', to: 'shorten.text' },
      { from: 'shorten.text', to: 'trim.prompt' },
      { from: 'trim.text', to: 'out.text' },
      { from: 'long.false.text', to: 'out.text' },
      { from: 'in.topic', to: 'draw.prompt' },
      { from: 'draw.image', to: 'out.picture' },
    ],
  }
}

/**
 * Resources and secrets that requests of the run have created. Requests that delete or end something use only these, so
 * that the resources which other requests need stay.
 */
interface Pool {
  /** Collects what a response to a POST names, except what others need. */
  harvest(body: unknown, kept: ReadonlySet<string>): void
  /** Adds one. @param kind an example name, or the collection that a relation is in, such as `grants` */
  add(kind: string, id: string): void
  /** One that exists or existed; undefined if none was created yet. */
  pick(kind: string, chance: Chance): string | undefined
  /** The same, removed from the pool. */
  take(kind: string, chance: Chance): string | undefined
  keepSecret(kind: string, secret: string): void
  /** @param kind prefix of a key or token, or `cookie` */
  pickSecret(kind: string, chance: Chance): string | undefined
}

const KIND_OF_PREFIX: Record<string, ExampleName> = {
  ten: 'tenant',
  tea: 'team',
  usr: 'user',
  prj: 'project',
  key: 'key',
  inv: 'invocation',
  whk: 'webhook',
  sbx: 'sandbox',
  exe: 'execution',
  ast: 'asset',
  tok: 'token',
  atk: 'accessToken',
}
const ID = /^([a-z]{3})[_-][0-9a-z]{26}$/
/** Per kind. The oldest are dropped first: they were probably deleted. */
const MOST = 200

export function openPool(): Pool {
  const ids = new Map<string, string[]>()
  const secrets = new Map<string, string[]>()

  function add(to: Map<string, string[]>, kind: string, value: string): void {
    const values = to.get(kind) ?? []
    to.set(kind, values)
    values.push(value)
    if (values.length > MOST) values.shift()
  }

  function harvest(body: unknown, kept: ReadonlySet<string>): void {
    if (typeof body !== 'object' || body === null) return
    const { id, asset = id, secret } = body as { id?: unknown; asset?: unknown; secret?: unknown }
    if (typeof secret === 'string') add(secrets, secret.slice(0, 4), secret)
    if (typeof asset === 'string' && !kept.has(asset)) {
      const kind = asset.includes('/') ? 'product' : KIND_OF_PREFIX[ID.exec(asset)?.[1] ?? '']
      if (kind !== undefined) add(ids, kind, asset)
    }
    // A new key, token or webhook is inside the response that has its secret.
    for (const inner of ['key', 'token', 'webhook']) harvest((body as Record<string, unknown>)[inner], kept)
  }

  return {
    harvest,
    add: (kind, id) => add(ids, kind, id),
    pick: (kind, chance) => pickFrom(ids.get(kind), chance),
    take(kind, chance) {
      const values = ids.get(kind) ?? []
      return values.splice(chance.below(values.length), 1)[0]
    },
    keepSecret: (kind, secret) => add(secrets, kind, secret),
    pickSecret: (kind, chance) => pickFrom(secrets.get(kind), chance),
  }
}

function pickFrom(values: string[] | undefined, chance: Chance): string | undefined {
  return values && values.length > 0 ? chance.pick(values) : undefined
}
