import type { Database } from '@gateway/database/client'
import { deriveAgain, type Finding, type Summed } from './fold-journal.ts'

// Checks the usage hours against the journal (money §9.2).
//   V1  The rolled-up amount and the entries after it add up to the wallet's settled amount. Read in one statement, so
//       in one snapshot.
//   V2  The hours of each dimension add up to the rolled-up amount, and so do its days; all to the same cost of providers.
//       Their number grows, so they are not read for every wallet every minute.
//   V3  Each hour is derived again from the journal and the usage records, in steps, and each day from its hours; those
//       that differ are named. Hours of archived months were derived this way before their entries were dropped
//       (money §9.4); V2 covers their sum. Which user or flow made a call is not derived again, because executions are not
//       kept as long: the users of an hour, and its flows, add up to the calls of the hour.
//   V4  The months of all projects are the sums of the days. This reads all days once, so only a whole check does it.

/** How far a check goes: V1 and V2, or all three. */
export type UsageDepth = 'sums' | 'hours'

/** Checks the usage hours of one project. Returns what does not add up. */
export async function checkUsage(
  { prisma }: Pick<Database, 'prisma'>,
  project: string,
  depth: UsageDepth,
): Promise<Finding[]> {
  const [roll] = await prisma.$queryRaw<RolledUp[]>`
    SELECT w.settled, w.journal_seq, coalesce(p.seq, 0) AS seq, coalesce(p.micro, 0)::bigint AS micro,
           (SELECT coalesce(sum(j.settled), 0)::bigint FROM money.journal j
             WHERE j.project = ${project} AND j.seq > coalesce(p.seq, 0)
               AND j.at >= coalesce(p.at - interval '1 day', '-infinity')) AS behind,
           (SELECT coalesce(json_agg(json_build_array(u.dimension, u.unit, u.micro::text, u.cost::text)), '[]')::text
              FROM (SELECT dimension, 'hours' AS unit, sum(micro) AS micro, sum(cost_pico) AS cost
                      FROM money.usage_hours WHERE project = ${project} GROUP BY 1
                     UNION ALL
                    SELECT dimension, 'days', sum(micro), sum(cost_pico)
                      FROM money.usage_days WHERE project = ${project} GROUP BY 1) u) AS sums
      FROM money.wallets w LEFT JOIN money.usage_positions p ON p.project = w.project
     WHERE w.project = ${project}`
  if (!roll) return []
  const findings: Finding[] = []
  const where = `usage of ${project} up to journal entry ${roll.seq}`
  const same = (what: string, expectedMicro: bigint, foundMicro: bigint) => {
    if (expectedMicro !== foundMicro) findings.push({ what, where, expectedMicro, foundMicro })
  }
  if (roll.seq > roll.journal_seq) same('usage is rolled up beyond the journal', roll.journal_seq, roll.seq)
  same('the usage roll-up differs from the journal', roll.settled - roll.behind, roll.micro) // V1
  const rows = JSON.parse(roll.sums) as [dimension: string, unit: string, micro: string, cost: string][]
  const sumsOf = new Map(rows.map(([dimension, unit, ...sums]) => [`${unit} by ${dimension}`, sums]))
  const costOfHours = sumsOf.get('hours by all')?.[1] ?? '0'
  for (const unit of ['hours', 'days'])
    for (const dimension of DIMENSIONS) {
      const [micro, cost] = sumsOf.get(`${unit} by ${dimension}`) ?? ['0', '0']
      const sums = `the usage ${unit} by ${dimension}`
      same(`${sums} differ from the roll-up`, roll.micro, BigInt(micro)) // V2
      if (cost === costOfHours) continue
      const what = `the provider cost of ${sums} differs from that of the hours by all: expected ${costOfHours}, found ${cost} pico-USD`
      findings.push({ what, where, expectedMicro: roll.micro, foundMicro: BigInt(micro) })
    }
  if (depth === 'hours')
    for (const check of [checkHours, checkParts, checkDays]) findings.push(...(await check({ prisma }, project)))
  return findings
}

interface RolledUp {
  settled: bigint
  journal_seq: bigint
  seq: bigint
  /** Settled up to `seq`. */
  micro: bigint
  /** Settled since. */
  behind: bigint
  /** JSON of the rolled-up sums: dimension, unit, micro-USD, and the cost of providers in pico-USD. */
  sums: string
}

const DIMENSIONS = ['all', 'model', 'key', 'user', 'sandbox', 'tag']

/** V3: checks up to the current position. Hours that grow meanwhile are checked again. */
async function checkHours({ prisma }: Pick<Database, 'prisma'>, project: string): Promise<Finding[]> {
  const { after, hour } = await firstToDerive({ prisma }, project)
  const differing = await deriveAgain(
    {
      read: () => readHours({ prisma }, project, hour),
      derive: (from, last) => deriveHours({ prisma }, project, from, last, hour),
    },
    after,
  )
  return differing.map(({ name, expected, found }) => ({
    what: `a usage hour differs from the journal: expected ${formatHour(expected)}, found ${formatHour(found)}`,
    where: `usage hour ${name}`,
    expectedMicro: expected[3]!,
    foundMicro: found[3]!,
  }))
}

function formatHour([calls, prompt, completion, , costedCalls, costedMicro, costPico]: bigint[]): string {
  return `${calls} calls with ${prompt} + ${completion} tokens, ${costedCalls} of them with a cost of ${costPico} pico-USD for ${costedMicro} micro-USD`
}

/** Returns the newest archived entry, and the first hour without archived entries. */
async function firstToDerive({ prisma }: Pick<Database, 'prisma'>, project: string) {
  const [row] = await prisma.$queryRaw<{ after: bigint; hour: Date }[]>`
    SELECT seq AS after, greatest(month + interval '1 month', date_trunc('hour', at, 'UTC') + interval '1 hour') AS hour
      FROM money.archived_wallets WHERE project = ${project}`
  return row ?? { after: 0n, hour: new Date(0) }
}

/** Reads the hours and the position they reach, in one snapshot. */
async function readHours({ prisma }: Pick<Database, 'prisma'>, project: string, first: Date) {
  const [row] = await prisma.$queryRaw<[{ seq: bigint; hours: string }]>`
    SELECT coalesce((SELECT p.seq FROM money.usage_positions p WHERE p.project = ${project}), 0) AS seq,
           (SELECT coalesce(json_agg(json_build_array(h.hour || ' ' || h.dimension || ' ' || h.name, h.calls::text,
                     h.prompt_tokens::text, h.completion_tokens::text, h.micro::text, h.costed_calls::text, h.costed_micro::text,
                     h.cost_pico::text)), '[]')::text
              FROM money.usage_hours h
             WHERE h.project = ${project} AND h.hour >= ${first}
               AND h.dimension IN ('all', 'model', 'key', 'tag')) AS hours`
  const rows = (JSON.parse(row.hours) as string[][]).map(([name, ...figures]): Summed => ({
    name: name!,
    figures: figures.map(BigInt),
  }))
  return { seq: row.seq, rows }
}

/** Derives calls, tokens, amount and cost by hour, dimension and name from the entries after `from` up to `last`. */
async function deriveHours(
  { prisma }: Pick<Database, 'prisma'>,
  project: string,
  from: bigint,
  last: bigint,
  first: Date,
): Promise<Summed[]> {
  const rows = await prisma.$queryRaw<{ name: string; figures: string[] }[]>`
    SELECT date_trunc('hour', v.admitted_at, 'UTC') || ' ' || d.dimension || ' ' || d.name AS name,
           ARRAY[count(*), sum(coalesce(v.prompt_tokens, 0)), sum(coalesce(v.completion_tokens, 0)),
                 sum(j.settled), count(v.cost_pico), coalesce(sum(j.settled) FILTER (WHERE v.cost_pico IS NOT NULL), 0),
                 coalesce(sum(v.cost_pico), 0)]::text[] AS figures
      FROM money.journal j
      CROSS JOIN LATERAL (SELECT * FROM money.attempts a WHERE a.id = j.reference LIMIT 1) v
      CROSS JOIN LATERAL (VALUES ('all', ''), ('model', v.product), ('key', v.key), ('tag', coalesce(v.tag, ''))) d (dimension, name)
     WHERE j.project = ${project} AND j.seq > ${from} AND j.seq <= ${last} AND j.kind = 'settle'
       AND date_trunc('hour', v.admitted_at, 'UTC') >= ${first}
     GROUP BY 1`
  return rows.map(({ name, figures }) => ({ name, figures: figures.map(BigInt) }))
}

/** V3: compares the users and the flows of each hour with all calls of the hour. */
async function checkParts({ prisma }: Pick<Database, 'prisma'>, project: string): Promise<Finding[]> {
  const rows = await prisma.$queryRaw<Differing[]>`
    SELECT coalesce(a.hour, s.hour) || ' ' || coalesce(a.by, s.dimension) AS name,
           coalesce(a.micro, 0) AS expected, coalesce(s.micro, 0)::bigint AS found
      FROM (SELECT h.*, d.dimension AS by
              FROM money.usage_hours h, (VALUES ('user'), ('sandbox')) d (dimension)
             WHERE h.project = ${project} AND h.dimension = 'all') a
      FULL JOIN (
        SELECT hour, dimension, sum(calls) AS calls, sum(prompt_tokens) AS prompt, sum(completion_tokens) AS completion,
               sum(micro) AS micro, sum(costed_calls) AS costed_calls, sum(costed_micro) AS costed_micro, sum(cost_pico) AS cost,
               sum(errors) AS errors
          FROM money.usage_hours WHERE project = ${project} AND dimension IN ('user', 'sandbox') GROUP BY 1, 2
      ) s ON s.hour = a.hour AND s.dimension = a.by
     WHERE (a.calls, a.prompt_tokens, a.completion_tokens, a.micro, a.costed_calls, a.costed_micro, a.cost_pico, a.errors)
           IS DISTINCT FROM (s.calls::bigint, s.prompt::bigint, s.completion::bigint, s.micro::bigint,
                             s.costed_calls::bigint, s.costed_micro::bigint, s.cost, s.errors::bigint)
     ORDER BY 1`
  return rows.map((row) => finding('the parts of a usage hour differ from all of it', 'usage hour', row))
}

interface Differing {
  name: string
  /** Micro-USD, like `found`. */
  expected: bigint
  found: bigint
}

function finding(what: string, place: string, { name, expected, found }: Differing): Finding {
  return { what, where: `${place} ${name}`, expectedMicro: expected, foundMicro: found }
}

/** V3: compares each day with its hours. */
async function checkDays({ prisma }: Pick<Database, 'prisma'>, project: string): Promise<Finding[]> {
  const rows = await prisma.$queryRaw<Differing[]>`
    SELECT coalesce(d.day, h.day) || ' ' || coalesce(d.dimension, h.dimension) || ' ' || coalesce(d.name, h.name) AS name,
           coalesce(h.micro, 0)::bigint AS expected, coalesce(d.micro, 0) AS found
      FROM (SELECT * FROM money.usage_days WHERE project = ${project}) d
      FULL JOIN (
        SELECT date_trunc('day', hour, 'UTC') AS day, dimension, name, sum(calls) AS calls, sum(prompt_tokens) AS prompt,
               sum(completion_tokens) AS completion, sum(micro) AS micro, sum(costed_calls) AS costed_calls,
               sum(costed_micro) AS costed_micro, sum(cost_pico) AS cost, sum(errors) AS errors
          FROM money.usage_hours WHERE project = ${project} GROUP BY 1, 2, 3
      ) h ON h.day = d.day AND h.dimension = d.dimension AND h.name = d.name
     WHERE (d.calls, d.prompt_tokens, d.completion_tokens, d.micro, d.costed_calls, d.costed_micro, d.cost_pico, d.errors)
           IS DISTINCT FROM (h.calls::bigint, h.prompt::bigint, h.completion::bigint, h.micro::bigint,
                             h.costed_calls::bigint, h.costed_micro::bigint, h.cost, h.errors::bigint)
     ORDER BY 1`
  return rows.map((row) => finding('a usage day differs from its hours', 'usage day', row))
}

/** V4 */
export async function checkProductMonths({ prisma }: Pick<Database, 'prisma'>): Promise<Finding[]> {
  const rows = await prisma.$queryRaw<(Differing & { costs: string })[]>`
    SELECT to_char(coalesce(m.month, d.month), 'YYYY-MM') || ' ' || coalesce(m.product, d.name) AS name,
           coalesce(d.micro, 0)::bigint AS expected, coalesce(m.micro, 0) AS found,
           'expected ' || coalesce(d.cost, 0) || ', found ' || coalesce(m.cost_pico, 0) AS costs
      FROM money.product_months m
      FULL JOIN (
        SELECT date_trunc('month', day AT TIME ZONE 'UTC')::date AS month, name, sum(calls) AS calls,
               sum(prompt_tokens) AS prompt, sum(completion_tokens) AS completion, sum(micro) AS micro,
               sum(costed_calls) AS costed_calls, sum(costed_micro) AS costed_micro, sum(cost_pico) AS cost
          FROM money.usage_days WHERE dimension = 'model' GROUP BY 1, 2
        HAVING sum(calls + prompt_tokens + completion_tokens + micro + cost_pico) > 0 -- a month of failed calls has no row
      ) d ON d.month = m.month AND d.name = m.product
     WHERE (m.calls, m.prompt_tokens, m.completion_tokens, m.micro, m.costed_calls, m.costed_micro, m.cost_pico)
           IS DISTINCT FROM (d.calls::bigint, d.prompt::bigint, d.completion::bigint, d.micro::bigint,
                             d.costed_calls::bigint, d.costed_micro::bigint, d.cost)
     ORDER BY 1`
  const what = 'a month of a product differs from its days, with a provider cost in pico-USD of'
  return rows.map(({ costs, ...row }) => finding(`${what} ${costs}`, 'month', row))
}
