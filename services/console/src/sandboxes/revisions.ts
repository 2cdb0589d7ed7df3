import { Refusal, refuse } from '@gateway/api/refusal'
import type { ConsoleDeps } from '../deps.ts'
import { requireQuota } from '../projects/quotas.ts'
import type { Handler } from '../request/call.ts'
import { pageOf, readNumberCursor } from '../request/page.ts'
import { reachSandbox, revisionText, sandboxRecord, textOf } from './sandbox-record.ts'
import type { Graph, GraphProblem } from '@gateway/api/graph'
import { graphWarnings } from '@gateway/flow/warnings'
import { recordChange, type Transaction } from '../audit/record-change.ts'
import { databaseNow } from '../keys/key-record.ts'
import { lockSandbox } from './sandboxes.ts'
import { answeredBefore, createOnce } from '../request/create-once.ts'
import type { ParameterValues } from '@gateway/api/console/products'
import { chatFieldsOf } from '@gateway/flow/contract'
import { buildPackage } from '@gateway/flow/package'
import { planOf } from '@gateway/flow/plan'
import { validateGraph, type ProductFacts } from '@gateway/flow/validate-graph'
import type { ProductRow } from '../catalogue/product-columns.ts'

/** Maximum size of a page. A page has at least one revision. */
const PAGE_BYTES = 8 * 1024 * 1024

type Deps = Pick<ConsoleDeps, 'prisma'>

/** GET …/sandboxes/{s}/revisions: newest first. */
export function listRevisions(deps: Deps): Handler<'listRevisions'> {
  const { prisma } = deps
  return async (call, res) => {
    const { sandbox } = await reachSandbox(deps.prisma, call, res)
    const { cursor, limit } = call.query()
    const before = cursor === undefined ? 2_000_000_000 : Number(readNumberCursor(cursor, 9))
    const sizes = await prisma.$queryRaw<{ number: number; bytes: number }[]>`
      SELECT number, octet_length(graph) + octet_length(problems) + octet_length(warnings) + coalesce(octet_length(package), 0) AS bytes
        FROM control.revisions WHERE sandbox = ${sandbox.id} AND number < ${before} ORDER BY number DESC LIMIT ${limit + 1}`
    const { data, nextCursor } = pageOf(sizes, howMany(sizes, limit), ({ number }) => String(number))
    const rows = await prisma.revision.findMany({
      where: { sandbox: sandbox.id, number: { in: data.map(({ number }) => number) } },
      orderBy: { number: 'desc' },
    })
    res.type('json').end(`{"data":[${rows.map(revisionText).join(',')}],"nextCursor":${JSON.stringify(nextCursor)}}`)
  }
}

/** GET …/sandboxes/{s}/revisions/{n}: the revision as it was saved. */
export function readRevision(deps: Deps): Handler<'readRevision'> {
  return async (call, res) => {
    const { sandbox } = await reachSandbox(deps.prisma, call, res)
    const number = revisionNumberOf(call.req.params['number'])
    const row = await deps.prisma.revision.findUnique({ where: { sandbox_number: { sandbox: sandbox.id, number } } })
    if (!row) throw refuse('not_found', {})
    res.type('json').end(revisionText(row))
  }
}

function howMany(sizes: { bytes: number }[], limit: number): number {
  let total = 0
  const fitting = sizes.slice(0, limit).findIndex(({ bytes }) => (total += bytes) > PAGE_BYTES)
  return fitting === -1 ? limit : Math.max(fitting, 1)
}

type ActivateDeps = Pick<ConsoleDeps, 'prisma' | 'log'>

/**
 * POST …/sandboxes/{s}/revisions/{n}/activate: this revision serves external calls from now on (flows §3.2). The graph
 * is validated again against the products assigned now, its package is built, and both are deployed in one transaction:
 * if anything fails, the active revision does not change. The revision itself is unchanged: the package is a separate
 * record. Executions in progress keep the revision they started with.
 * @throws Refusal `graph_invalid`, `product_not_assigned`, `activation_failed`
 */
export function activateRevision(deps: ActivateDeps): Handler<'activateRevision'> {
  const { prisma, log } = deps
  return async (call, res) => {
    const { user, tenant, project, sandbox } = await reachSandbox(deps.prisma, call, res)
    const revision = revisionNumberOf(call.req.params['number'])
    const saved = await prisma.revision.findUnique({
      where: { sandbox_number: { sandbox: sandbox.id, number: revision } },
      select: { graph: true },
    })
    if (!saved) throw refuse('not_found', {})
    const graph = JSON.parse(textOf(saved.graph)) as Graph

    const deployed = await prisma
      .$transaction(async (tx) => {
        const before = await lockSandbox(tx, sandbox.id)
        const { problems, built } = await checkGraph(tx, project, graph)
        if (built === null) throw refusalOf(problems, graph)
        await tx.package.createMany({ data: [{ sandbox: sandbox.id, revision, ...built }], skipDuplicates: true })
        const { digest } = built
        const active = { activeRevision: revision, activeDigest: digest, activatedAt: await databaseNow(tx) }
        const after = await tx.sandbox.update({ where: { id: sandbox.id }, data: active })
        const details = { revision, digest, before: before.activeRevision }
        await recordChange(tx, { tenant, user: user.id, action: 'revision.activate', subject: sandbox.id, details })
        return sandboxRecord(tx, after)
      })
      .catch((error: unknown) => {
        if (error instanceof Refusal) throw error
        log.error({ err: error, sandbox: sandbox.id, revision }, 'deployment of a revision failed')
        throw refuse('activation_failed', {})
      })
    res.json(deployed)
  }
}

/** Returns `product_not_assigned` if that is the only problem, otherwise `graph_invalid` with all problems. */
function refusalOf(problems: GraphProblem[], graph: Graph): Refusal {
  const details = { problems }
  if (problems.every(({ code }) => code === 'product_not_assigned')) {
    const node = graph.nodes.find(({ id }) => id === problems[0]?.node)
    return refuse('product_not_assigned', { product: String(node?.['product']) }, { details })
  }
  return refuse('graph_invalid', { problems }, { param: 'graph', details })
}

/** Concurrent saves of one sandbox product run in sequence. */
const TAKE_TURNS = { maxWait: 10_000, timeout: 10_000 }

/**
 * POST …/sandboxes/{s}/revisions: saves a new revision, even one with problems (flows §3.1). It is stored with them,
 * and can't be activated while it has any; `draft` is only a mark. Of several saves on the same base the first wins.
 * @throws Refusal `revision_conflict`, `invalid_request`, `request_too_large`
 */
export function saveRevision(deps: Pick<ConsoleDeps, 'prisma' | 'quotas'>): Handler<'saveRevision'> {
  const { prisma, quotas } = deps
  return async (call, res) => {
    const { user, tenant, project, sandbox } = await reachSandbox(deps.prisma, call, res)
    const { draft, baseRevision } = await call.body()
    const graph = sentGraph(await call.sentBody())
    if (await answeredBefore(deps, call, res)) return // its base was the latest then
    // Revision numbers only increase, so a base that is already stale is refused without waiting for the lock.
    requireBase(baseRevision, sandbox.latestRevision)
    const { problems, built } = await checkGraph(prisma, project, graph)
    const make = async (tx: Transaction) => {
      await requireQuota(tx, quotas, project, 'revisions')
      const number = await nextNumber(tx, sandbox.id, baseRevision)
      const row = await tx.revision.create({
        data: {
          sandbox: sandbox.id,
          number,
          draft,
          baseRevision,
          graph: graphBytes(graph),
          problems: jsonBytes(problems),
          warnings: jsonBytes(graphWarnings(graph)),
          createdBy: user.id,
          ...columnsOf(built),
        },
      })
      const details = { revision: number, draft, baseRevision, digest: row.digest }
      await recordChange(tx, { tenant, user: user.id, action: 'revision.save', subject: sandbox.id, details })
      return { json: revisionText(row) }
    }
    await createOnce(deps, call, res, make, (work) => prisma.$transaction(work, TAKE_TURNS))
  }
}

function jsonBytes(value: unknown): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(JSON.stringify(value))
}

/** Columns of the package built on save. Another runner version may build a different one on activation. */
function columnsOf(built: BuiltPackage | null): Partial<Omit<BuiltPackage, 'runnerVersion'>> {
  if (built === null) return {}
  const { runnerVersion: _, ...columns } = built
  return columns
}

/** Locks the sandbox product until the revision is stored. @throws Refusal `revision_conflict` */
async function nextNumber(tx: Transaction, sandbox: string, base: number | null): Promise<number> {
  const [taken] = await tx.$queryRaw<{ number: number }[]>`
    UPDATE control.sandboxes SET latest_revision = latest_revision + 1
     WHERE id = ${sandbox} AND (${base}::integer IS NULL OR latest_revision = ${base}::integer)
    RETURNING latest_revision AS number`
  if (taken) return taken.number
  const { latestRevision } = await tx.sandbox.findUniqueOrThrow({ where: { id: sandbox } })
  throw conflict(latestRevision)
}

function requireBase(base: number | null, latestRevision: number): void {
  if (base !== null && base !== latestRevision) throw conflict(latestRevision)
}

function conflict(latestRevision: number) {
  return refuse('revision_conflict', { latestRevision }, { details: { latestRevision } })
}

/**
 * Returns the graph of a validated body as it was sent, not as copied by the schema parser, so that fields outside the
 * schema are preserved. Problems of the graph are reported by the checker.
 */
function sentGraph({ graph }: Record<string, unknown>): Graph {
  return graph as Graph
}

/** Serializes a graph for storage and responses: compact JSON, deterministic. */
function graphBytes(graph: Graph): Uint8Array<ArrayBuffer> {
  // `stringify` writes U+0000 and lone surrogates as escapes, so the text is valid UTF-8 for any graph.
  return new TextEncoder().encode(JSON.stringify(graph))
}

/** @throws Refusal `not_found` for a string that can't be a revision number */
function revisionNumberOf(text: unknown): number {
  if (typeof text === 'string' && /^[1-9]\d{0,8}$/.test(text)) return Number(text)
  throw refuse('not_found', {})
}

/** Package built from a graph, as stored. */
interface BuiltPackage {
  /** SHA-256 of `package`, in hex. */
  digest: string
  package: Uint8Array<ArrayBuffer>
  runnerVersion: string
  manifest: string[]
  paidNodes: number
  chatInput: string | null
  chatOutput: string | null
}

/**
 * Validates a graph against the products that its project can currently call. `built` is its package, or null if there
 * are problems.
 */
async function checkGraph(
  tx: Transaction,
  project: string,
  graph: Graph,
): Promise<{ problems: GraphProblem[]; built: BuiltPackage | null }> {
  const problems = validateGraph(graph, await callableProducts(tx, project))
  return { problems, built: problems.length === 0 ? packageOf(graph) : null }
}

function packageOf(graph: Graph): BuiltPackage {
  const { package: flow, digest, text } = buildPackage(graph)
  const chat = chatFieldsOf(flow.input, flow.output)
  return {
    digest,
    package: new TextEncoder().encode(text),
    runnerVersion: flow.runnerVersion,
    manifest: flow.manifest,
    paidNodes: planOf(flow).paidNodes,
    chatInput: chat?.input ?? null,
    chatOutput: chat?.output ?? null,
  }
}

/** Omits products that are not assigned, whether or not they exist, so the result does not reveal the catalogue. */
async function callableProducts(tx: Transaction, project: string): Promise<Map<string, ProductFacts>> {
  const assigned = await tx.assignment.findMany({ where: { project }, select: { product: true } })
  const products = await tx.product.findMany({
    where: { id: { in: assigned.map(({ product }) => product) }, state: 'published' },
    select: {
      id: true,
      kind: true,
      supportedParameters: true,
      maxOutputTokens: true,
      contextLength: true,
      maxTokensPerImage: true,
      imageMaxBytes: true,
      imageMaxCount: true,
      maxOutputBytes: true,
      parameterValues: true,
    },
  })
  return new Map(products.map((product) => [product.id, factsOf(product)]))
}

type Row = Pick<
  ProductRow,
  | 'kind'
  | 'supportedParameters'
  | 'maxOutputTokens'
  | 'contextLength'
  | 'maxTokensPerImage'
  | 'imageMaxBytes'
  | 'imageMaxCount'
  | 'maxOutputBytes'
  | 'parameterValues'
>

function factsOf({ maxTokensPerImage, imageMaxBytes, imageMaxCount, ...row }: Row): ProductFacts {
  return {
    kind: row.kind as ProductFacts['kind'],
    assigned: true,
    supportedParameters: row.supportedParameters,
    maxOutputTokens: row.maxOutputTokens,
    takesImages: maxTokensPerImage !== null,
    contextLength: row.contextLength,
    ...(maxTokensPerImage !== null && {
      imageInput: { maxBytes: imageMaxBytes, maxCount: imageMaxCount, maxTokens: maxTokensPerImage },
    }),
    maxOutputBytes: row.maxOutputBytes,
    parameterValues: row.parameterValues as ParameterValues,
  }
}
