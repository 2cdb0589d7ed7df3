import type { RequestHandler } from 'express'
import { Prisma } from '@gateway/database/client'
import type { InvocationRecord } from '@gateway/contracts/console/money'
import { pageQuery } from '@gateway/contracts/console/page'
import { refuse } from '@gateway/contracts/refusal'
import { pricingOf } from '../catalogue/pricing.ts'
import type { ConsoleDeps } from '../needs.ts'
import { checkedQuery, pathIdOf } from '../receive/check.ts'
import { mapPage, pageOf } from '../receive/page.ts'
import type { Authorize } from '../permissions/authorize.ts'
import { personOf } from '../sign-in/person.ts'

type Deps = Pick<ConsoleDeps, 'prisma'> & { authorize: Authorize }

interface InvocationRow {
  id: string
  /** Empty: a person runs a sandbox product. */
  key: string
  product: string
  execution: string | null
  node: string | null
  state: InvocationRecord['state']
  prompt_tokens: number | null
  completion_tokens: number | null
  estimated: boolean
  prompt_pico: bigint
  completion_pico: bigint
  request_pico: bigint
  reserved_micro: bigint
  charged_micro: bigint
  admitted_at: Date
}

/** GET …/projects/{p}/invocations: newest first, each as its newest attempt stands. */
export function listInvocations({ prisma, authorize }: Deps): RequestHandler {
  return async (req, res) => {
    const tenant = pathIdOf(req, 'tenant')
    const { id: project } = await authorize.inProject(personOf(res), tenant, pathIdOf(req, 'project'), 'usage.read')
    const { cursor, limit } = checkedQuery(req, pageQuery)
    const narrowed = cursor === undefined ? Prisma.empty : beforeCursor(cursor)
    // Each half is cut to a page of its own before they meet, so that only the newest rows are read.
    const newest = Prisma.sql`ORDER BY admitted_at DESC, id DESC LIMIT ${limit + 1}`
    const rows = await prisma.$queryRaw<InvocationRow[]>`
      (${openCalls(project)} ${narrowed} ${newest}) UNION ALL (${closedCalls(project)} ${narrowed} ${newest}) ${newest}`
    const page = pageOf(rows, limit, ({ admitted_at, id }) => `${admitted_at.getTime()}.${id}`)
    res.json(mapPage(page, invocationRecord))
  }
}

/** GET …/projects/{p}/invocations/{i} */
export function readInvocation({ prisma, authorize }: Deps): RequestHandler {
  return async (req, res) => {
    const tenant = pathIdOf(req, 'tenant')
    const { id: project } = await authorize.inProject(personOf(res), tenant, pathIdOf(req, 'project'), 'usage.read')
    const id = pathIdOf(req, 'invocation')
    const [row] = await prisma.$queryRaw<InvocationRow[]>`
      ${openCalls(project)} AND a.invocation = ${id}
      UNION ALL ${closedCalls(project)} AND (a.id = ${id} OR (a.invocation = ${id} AND a.attempt > 1))`
    if (!row) throw refuse('not_found', {})
    res.json(invocationRecord(row))
  }
}

function openCalls(project: string): Prisma.Sql {
  return Prisma.sql`
    SELECT invocation AS id, key, product, execution, node, 'Open' AS state, NULL::integer AS prompt_tokens, NULL::integer AS completion_tokens,
           false AS estimated, prompt_pico, completion_pico, request_pico, micro AS reserved_micro, 0::bigint AS charged_micro, admitted_at
      FROM money.reservations a WHERE project = ${project}`
}

/** Less the attempts that another one has followed: they were released, and say nothing any more. */
function closedCalls(project: string): Prisma.Sql {
  return Prisma.sql`
    SELECT invocation AS id, key, product, execution, node, state, prompt_tokens, completion_tokens,
           estimated, prompt_pico, completion_pico, request_pico, reserved_micro, charged_micro, admitted_at
      FROM money.attempts a WHERE project = ${project}
       AND NOT EXISTS (SELECT FROM money.attempts l WHERE l.invocation = a.invocation AND l.attempt > a.attempt AND l.attempt > 1)
       AND NOT EXISTS (SELECT FROM money.reservations l WHERE l.project = a.project AND l.invocation = a.invocation)`
}

function beforeCursor(cursor: string): Prisma.Sql {
  const [, ms, id] = /^(\d{1,15})\.(.+)$/.exec(cursor) ?? []
  if (ms && id) return Prisma.sql`AND (a.admitted_at, a.invocation) < (${new Date(Number(ms))}, ${id})`
  throw refuse(
    'invalid_request',
    { reason: 'cursor: is not one that this list gave.', resolution: 'Send the nextCursor of the page before.' },
    { param: 'cursor' },
  )
}

function invocationRecord(row: InvocationRow): InvocationRecord {
  return {
    id: row.id,
    key: row.key === '' ? null : row.key,
    model: row.product,
    execution: row.execution,
    node: row.node,
    state: row.state,
    promptTokens: row.prompt_tokens,
    completionTokens: row.completion_tokens,
    estimated: row.estimated,
    pricing: pricingOf({
      unit: row.request_pico > 0n ? 'request' : 'tokens',
      promptPico: row.prompt_pico,
      completionPico: row.completion_pico,
      requestPico: row.request_pico,
    }),
    reservedMicro: Number(row.reserved_micro),
    chargedMicro: Number(row.charged_micro),
    createdAt: row.admitted_at.toISOString(),
  }
}
