import type { WalletRow, WalletSort } from '@gateway/api/console/platform-money'
import { Prisma } from '@gateway/database/client'
import type { ConsoleDeps } from '../deps.ts'
import { DAY_MS } from '@gateway/api/time-zone'
import { authorizeOnPlatform } from '../permissions/authorize.ts'
import type { Handler } from '../request/call.ts'
import { pageOf, readIdCursor, unknownCursor } from '../request/page.ts'
import { userOf } from '../sign-in/user.ts'

type Deps = Pick<ConsoleDeps, 'prisma' | 'now'>

const SPEND_DAYS = 30
const PACE_DAYS = 7

/** GET /api/v2/wallets: the wallets of all projects, in one statement for each page. */
export function listWallets(deps: Deps): Handler<'listWallets'> {
  return async (call, res) => {
    authorizeOnPlatform(userOf(res), 'wallets.read')
    const { cursor, limit, ...listing } = call.query()
    const after = cursor === undefined ? null : await readPlace(deps, cursor, listing.sort)
    const rows = await deps.prisma.$queryRaw<Row[]>(findWallets({ ...listing, after, limit, now: deps.now() }))
    const placeOf = ({ project, amount }: Row) => (isByName(listing.sort) ? project : `${amount}.${project}`)
    const page = pageOf(rows, limit, placeOf)
    res.json({ ...page, data: page.data.map(walletRow) })
  }
}

/** Last row of the previous page. */
interface Place {
  project: string
  /** What that row was sorted by then. undefined: its current name. */
  amount?: string
}

function isByName(sort: WalletSort): boolean {
  return sort === 'organization' || sort === 'project'
}

/**
 * Parses a cursor: a project, which has a name to continue after while it exists, or an amount and a project. Amounts
 * change all the time, so one that was read again would skip rows or repeat them.
 * @throws Refusal `invalid_request`
 */
async function readPlace({ prisma }: Pick<Deps, 'prisma'>, cursor: string, sort: WalletSort): Promise<Place> {
  if (!isByName(sort)) {
    const [, amount, project] = /^(-?\d{1,40}(?:\.\d{1,40})?)\.(prj_.+)$/.exec(cursor) ?? []
    if (amount === undefined || project === undefined) throw unknownCursor()
    return { project, amount }
  }
  const project = readIdCursor(cursor, 'prj_')
  if (!(await prisma.project.findUnique({ where: { id: project }, select: { id: true } }))) throw unknownCursor()
  return { project }
}

interface Listing {
  q?: string | undefined
  sort: WalletSort
  order: 'asc' | 'desc'
  after: Place | null
  limit: number
  now: Date
}

/** What a row is sorted by, never null. Of the spending sorts, whose sums are in `s`, a wallet without a runway is last. */
const sortKeys: Record<WalletSort, (order: Listing['order']) => Prisma.Sql> = {
  organization: () => Prisma.sql`lower(t.name)`,
  project: () => Prisma.sql`lower(p.name)`,
  balance: () => Prisma.sql`coalesce(w.funded - w.settled, 0)`,
  available: () => Prisma.sql`coalesce(w.funded - w.reserved - w.settled, 0)`,
  reserved: () => Prisma.sql`coalesce(w.reserved, 0)`,
  spend: () => Prisma.sql`coalesce(s.spend, 0)`,
  runway: (order) => Prisma.sql`
    coalesce((w.funded - w.reserved - w.settled)::numeric * ${PACE_DAYS}::int / nullif(s.pace, 0),
             ${order === 'asc' ? 1e18 : -1}::numeric)`,
  alerts: () => alerts,
}

/** Alert rules of the wallet whose threshold is crossed now (money §10.1). */
const alerts = Prisma.sql`(
  (SELECT count(*) FROM unnest(w.notice_below) AS b WHERE w.funded - w.settled < b)
  + (SELECT count(*) FROM money.days_left_thresholds d WHERE d.project = p.id AND d.notified))`

/** Selects a page. Spending is summed for all projects only if the list is sorted by it, otherwise for the page. */
function findWallets({ q, sort, order, after, limit, now }: Listing): Prisma.Sql {
  const today = Math.floor(now.getTime() / DAY_MS) * DAY_MS
  const [spendFrom, paceFrom] = [SPEND_DAYS, PACE_DAYS].map((days) => new Date(today - (days - 1) * DAY_MS))
  const sums = Prisma.sql`
    coalesce(sum(u.micro), 0)::bigint AS spend, coalesce(sum(u.micro) FILTER (WHERE u.day >= ${paceFrom}), 0)::bigint AS pace`
  const needsSums = sort === 'spend' || sort === 'runway'
  const spent = needsSums
    ? Prisma.sql`LEFT JOIN (
        SELECT u.project, ${sums} FROM money.usage_days u WHERE u.dimension = 'all' AND u.day >= ${spendFrom} GROUP BY u.project) s
        ON s.project = p.id`
    : Prisma.empty
  const [direction, comparison] = order === 'asc' ? ['ASC', '>'] : ['DESC', '<']
  const inOrder = Prisma.raw(`ORDER BY v ${direction}, project ${direction}`)
  const matching = q
    ? Prisma.sql`strpos(lower(concat_ws(' ', "tenantName", tenant, "projectName", project)), lower(${q})) > 0`
    : Prisma.sql`true`
  const behind =
    after === null ? Prisma.sql`true` : Prisma.sql`(v, project) ${Prisma.raw(comparison)} (${lastOf(after)})`
  return Prisma.sql`
    WITH keyed AS MATERIALIZED (
      SELECT t.id AS tenant, t.name AS "tenantName", p.id AS project, p.name AS "projectName",
             coalesce(w.funded - w.settled, 0) AS balance, coalesce(w.reserved, 0) AS reserved, ${alerts} AS alerts,
             ${sortKeys[sort](order)} AS v
        FROM control.projects p
        JOIN control.tenants t ON t.id = p.tenant
        LEFT JOIN money.wallets w ON w.project = p.id
        ${spent})
    SELECT k.*, k.v::text AS amount, u.spend, u.pace
      FROM (SELECT * FROM keyed WHERE ${matching} AND ${behind} ${inOrder} LIMIT ${limit + 1}) k
     CROSS JOIN LATERAL (
       SELECT ${sums} FROM money.usage_days u WHERE u.project = k.project AND u.dimension = 'all' AND u.day >= ${spendFrom}) u
     ${inOrder}`
}

function lastOf({ amount, project }: Place): Prisma.Sql {
  return amount === undefined
    ? Prisma.sql`SELECT v, project FROM keyed WHERE project = ${project}`
    : Prisma.sql`SELECT ${amount}::numeric, ${project}::text`
}

interface Row extends Pick<WalletRow, 'tenant' | 'tenantName' | 'project' | 'projectName'> {
  balance: bigint
  reserved: bigint
  alerts: bigint
  spend: bigint
  pace: bigint
  /** What the row is sorted by. */
  amount: string
}

function walletRow({
  tenant,
  tenantName,
  project,
  projectName,
  balance,
  reserved,
  alerts,
  spend,
  pace,
}: Row): WalletRow {
  const available = balance - reserved
  return {
    tenant,
    tenantName,
    project,
    projectName,
    balanceMicro: Number(balance),
    availableMicro: Number(available),
    reservedMicro: Number(reserved),
    spendMicro: Number(spend),
    runwayDays: pace > 0n ? Number((available * BigInt(PACE_DAYS)) / pace) : null,
    alerts: Number(alerts),
  }
}
