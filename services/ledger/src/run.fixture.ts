import { createHash, randomBytes } from 'node:crypto'
import { mintId } from '@gateway/contracts/ids'
import type { AdmitNodeItem } from '@gateway/contracts/flow-items'
import type { Fixture, KeyFixture } from '@gateway/testbed/fixture'
import type { Replica } from './replica.fixture.ts'

// Runs and their nodes straight in the tables, as if they had been started and claimed.

/** Who runs it: a key, or a person in the console. */
export type Runner = { key: string } | { person: string }

/** A node that a worker has claimed for a paid call. */
export interface HeldNode {
  execution: string
  node: string
  project: string
  lease: string
  attempt: number
  call: string
  reservation: string
}

const mint = (prefix: string) => mintId(prefix, Date.now(), randomBytes(10))
const newLease = () => randomBytes(16).toString('hex')

export async function insertExecution(fixture: Fixture, project: string, by: Runner): Promise<string> {
  const execution = mint('exe')
  await fixture.run(
    `INSERT INTO money.executions (id, project, sandbox, revision, key, lineage, person, surface, status, created_at, started_at, deadline_at)
     SELECT $1, $2, 'sbx-test', 1, k.id, k.lineage, $4, 'invoke', 'Running', now(), now(), now() + interval '5 minutes'
       FROM (VALUES (1)) one LEFT JOIN control.keys k ON k.id = $3`,
    [execution, project, 'key' in by ? by.key : null, 'person' in by ? by.person : null],
  )
  return execution
}

/** Nodes `<prefix>0`, `<prefix>1`, … of a run, each claimed. `unbound`: their rows don't say under which id they reserve. */
export async function insertNodes(
  fixture: Fixture,
  {
    execution,
    project,
    count,
    prefix = 'n',
    unbound = false,
  }: {
    execution: string
    project: string
    count: number
    prefix?: string
    unbound?: boolean
  },
): Promise<HeldNode[]> {
  const nodes = Array.from({ length: count }, (_, n): HeldNode => {
    const call = mint('inv')
    return { execution, node: `${prefix}${n}`, project, lease: newLease(), attempt: 1, call, reservation: call }
  })
  await fixture.run(
    `INSERT INTO money.execution_nodes (execution, ordinal, node, kind, project, sources, state, instance, lease, call, reservation, claimed_at)
     SELECT $1, (SELECT count(*) FROM money.execution_nodes WHERE execution = $1) + u.n, u.node, 'product.chat', $2, '{}', 'Running', 'ins_worker',
            u.lease, u.call, CASE WHEN $6 THEN NULL ELSE u.call END, now()
       FROM unnest($3::text[], $4::text[], $5::text[]) WITH ORDINALITY AS u (node, lease, call, n)`,
    [execution, project, nodes.map((n) => n.node), nodes.map((n) => n.lease), nodes.map((n) => n.call), unbound],
  )
  return nodes
}

/** Takes nodes back and claims them anew: another attempt, under another lease and reservation. */
export async function reclaimNodes(fixture: Fixture, nodes: HeldNode[]): Promise<HeldNode[]> {
  const again = nodes.map((node) => ({
    ...node,
    lease: newLease(),
    attempt: node.attempt + 1,
    reservation: mint('inv'),
  }))
  await fixture.run(
    `UPDATE money.execution_nodes n SET lease = u.lease, attempt = n.attempt + 1,
            reservation = CASE WHEN n.reservation IS NOT NULL THEN u.reservation END
       FROM unnest($1::text[], $2::text[], $3::text[], $4::text[]) AS u (execution, node, lease, reservation)
      WHERE n.execution = u.execution AND n.node = u.node`,
    [
      again.map((n) => n.execution),
      again.map((n) => n.node),
      again.map((n) => n.lease),
      again.map((n) => n.reservation),
    ],
  )
  return again
}

/** The run begins to fail. */
export async function failExecution(fixture: Fixture, execution: string): Promise<void> {
  await fixture.run(`UPDATE money.executions SET error = '{}' WHERE id = $1`, [execution])
}

/** Issues a replacement of a key, of the same lineage, as the console does. The old one works no more. */
export async function rotateKey(fixture: Fixture, { id, ...key }: KeyFixture): Promise<KeyFixture> {
  const [newId, secret] = [mint('key'), randomBytes(32).toString('hex')]
  const hash = createHash('sha256').update(secret).digest()
  await fixture.run(
    `INSERT INTO control.keys (id, hash, prefix, name, tenant, project, lineage, policy, limit_micro, limit_reset, created_by, expires_at,
       expiry_days, rotated_from)
     SELECT $2, $3, prefix, name, tenant, project, lineage, policy, limit_micro, limit_reset, created_by, now() + interval '90 days',
            expiry_days, id
       FROM control.keys WHERE id = $1`,
    [id, newId, hash],
  )
  await fixture.run('INSERT INTO control.key_resources SELECT $2, resource FROM control.key_resources WHERE key = $1', [
    id,
    newId,
  ])
  await fixture.run('UPDATE control.keys SET rotated_to = $2 WHERE id = $1', [id, newId])
  return { ...key, id: newId, secret, hash: hash.toString('hex') }
}

/** The admission of a claimed node's call by this replica's instance; what a test does not say is small and plain. */
export function nodeItem(
  { instance }: Pick<Replica, 'instance'>,
  { execution, node, lease, reservation }: HeldNode,
  model: string,
  { maxTokens = 100, ...more }: Partial<AdmitNodeItem> & { maxTokens?: number } = {},
): AdmitNodeItem {
  return {
    op: 'admit-node',
    id: reservation,
    execution,
    node,
    lease,
    instance,
    model,
    parameters: [],
    promptSize: { bytes: 100, messages: 1, tools: 0, images: 0, counted: null, maxTokens },
    ...more,
  }
}

/** A node's reservation to be closed: its call's usage, or null to give it back. */
export interface NodeClosing {
  id: string
  usage: { promptTokens: number; completionTokens: number } | null
}

interface ClosedNode {
  outcome: string
  chargedMicro: number
  excessMicro: number
}

/** What money.close_v1 answers to closings of nodes, as whoever ends their leases asks it: wallets first, in one transaction. */
export async function closeNodes(
  { prisma }: Replica['reads'],
  projects: string[],
  closings: NodeClosing[],
): Promise<ClosedNode[]> {
  return prisma.$transaction(async (tx) => {
    await tx.$queryRaw`SELECT FROM money.wallets WHERE project = ANY (${projects}) ORDER BY project FOR UPDATE`
    return askToClose(tx, projects, closings)
  })
}

/** Asks for closings of nodes in a transaction that holds the wallets. */
export async function askToClose(
  tx: Pick<Replica['reads']['prisma'], '$queryRawUnsafe'>,
  projects: string[],
  closings: NodeClosing[],
): Promise<ClosedNode[]> {
  const [row] = await tx.$queryRawUnsafe<{ answer: string }[]>(
    `SELECT money.close_v1(
       locked => $1, moment => clock_timestamp(), answer_day => current_date,
       c_id => $2, c_kind => $3, c_usage => $4, c_answered => $5, c_reason => $6)::text AS answer`,
    projects,
    closings.map(({ id }) => id),
    closings.map(({ usage }) => (usage ? 'settle' : 'release')),
    JSON.stringify(closings.map(({ usage }) => (usage ? { ...usage, estimated: false } : {}))),
    closings.map(() => false),
    closings.map(({ usage }) => (usage ? null : 'the node ended without an answer')),
  )
  const { outcome, charged, excess } = JSON.parse(row!.answer) as {
    outcome: string[]
    charged: number[]
    excess: number[]
  }
  return outcome.map((one, n) => ({ outcome: one, chargedMicro: charged[n]!, excessMicro: excess[n]! }))
}
