import type { UsageReport, UsageFigures } from '@gateway/api/console/money'
import type { Refusal } from '@gateway/api/refusal'
import { recordChange } from '../audit/record-change.ts'
import type { ConsoleDeps } from '../deps.ts'
import { authorizeInProject } from '../permissions/authorize.ts'
import type { Permission } from '../permissions/permissions.ts'
import type { Handler } from '../request/call.ts'
import { invalidField } from '../request/check.ts'
import { sendCsv } from '../request/send-csv.ts'
import { userOf } from '../sign-in/user.ts'
import { DAY_MS, HOUR_MS, localTime } from '@gateway/api/time-zone'
import { MAX_USAGE_CELLS, type UsageCell, usageCells, type UsageQuestion } from './usage-cells.ts'
import { sumOf, usageFigures, type UsageSums, asOneStep, usageSteps } from './usage-figures.ts'
import { readRolledUp } from './read-booked.ts'
import type { CsvRow } from '@gateway/api/csv-text'

const MONTH_MS = 30 * DAY_MS

/**
 * GET …/projects/{p}/usage: calls admitted from `from` and before `to`; by default the last 30 days. Counts
 * whole hours, or whole steps of a time zone; the response states the period counted (rules §7.5).
 */
export function readUsage(deps: Pick<ConsoleDeps, 'prisma' | 'now'>): Handler<'readUsage'> {
  return async (call, res) => {
    const tenant = call.id('tenant')
    const { by, step, zone = 'UTC', include, group, top, order = 'spend', format, ...asked } = call.query()
    const may = (permission: Permission) =>
      authorizeInProject(deps.prisma, userOf(res), tenant, call.id('project'), permission)
    const { id: project } = await may('usage.read')
    if (by === 'sandbox') await may('sandboxes.use')
    const time = periodOf(asked, deps.now(), MONTH_MS)
    const steps = step && usageSteps(time, step, zone)
    const { from, to } = steps ?? wholeHours(time)
    const withLatency = include === 'latency'
    const question = { project, by, from, to, steps, withLatency, only: group === undefined ? undefined : [group] }
    const parts = await (top === undefined ? readAll(deps, question) : readTop(deps, question, top, order))
    const timeOf = steps ? (n: number) => localTime(steps.zone, steps.starts[n - 1]!.getTime()) : null
    const report: UsageReport = {
      from: from.toISOString(),
      to: to.toISOString(),
      by,
      ...(step && { step, zone }),
      ...composeUsage(parts, timeOf, { withLatency }),
    }
    if (format === 'json') return void res.json(report)
    const details = { from: report.from, to: report.to, by, ...(group !== undefined && { group }) }
    const what = { action: 'usage.export' as const, subject: project, details }
    await recordChange(deps.prisma, { tenant, user: userOf(res).id, ...what })
    sendCsv(res, `usage-${project}-${report.from.slice(0, 10)}-${report.to.slice(0, 10)}`, usageTable(report))
  }
}

type Reading = Pick<ConsoleDeps, 'prisma'>

/** Options of a transaction whose statements read one snapshot. */
const OF_ONE_MOMENT = { isolationLevel: 'RepeatableRead', timeout: 10_000 } as const

function readAll({ prisma }: Reading, question: UsageQuestion): Promise<UsageParts> {
  return prisma.$transaction(async (tx) => partsOfCells(await readCells({ prisma: tx }, question)), OF_ONE_MOMENT)
}

/**
 * @param shorten what makes fewer rows of the steps, in addition to a shorter period and a longer step
 * @throws Refusal `invalid_request` for more cells than a report has
 */
async function readCells(
  deps: Parameters<typeof usageCells>[0],
  question: UsageQuestion,
  shorten = 'the top groups alone (top=10)',
): Promise<UsageCell[]> {
  const cells = await usageCells(deps, question)
  if (cells.length <= MAX_USAGE_CELLS) return cells
  throw question.steps === undefined || question.steps.starts.length === 1 ? tooManyGroups() : tooManyRows(shorten)
}

/** Number of groups whose sums a report with `top` has. */
const LISTED_GROUPS = 100

/**
 * Reads the sums of the groups with the most, and those of all groups together, without those of each of the others: a
 * chart of thousands of keys has a line for a few. All of one moment.
 */
function readTop({ prisma }: Reading, question: UsageQuestion, top: number, order: UsageOrder): Promise<UsageParts> {
  return prisma.$transaction(async (tx) => {
    const known = await readRolledUp({ prisma: tx }, question.project)
    const read = (asked: Partial<UsageQuestion>) =>
      readCells({ prisma: tx }, { ...question, known, ...asked }, 'fewer top groups')
    const whole = { steps: question.steps && asOneStep(question.steps) }
    const ranked = inOrder(await read({ ...whole, withLatency: false }), order)
    const named = ranked.flatMap(({ group }) => group ?? [])
    const firstOf = (count: number) => [...named.slice(0, count), null]
    const listed = firstOf(question.steps ? LISTED_GROUPS : top)
    const groups = question.withLatency
      ? inOrder(await read({ ...whole, only: listed }), order)
      : ranked.filter(({ group }) => listed.includes(group))
    const all = await read({ by: 'all' })
    return {
      cells: question.steps ? await read({ only: firstOf(top) }) : groups,
      steps: all,
      groups,
      groupCount: ranked.length,
      total: sumOf(all),
    }
  }, OF_ONE_MOMENT)
}

function tooManyRows(shorten: string): Refusal {
  const wrong = `results in more than ${MAX_USAGE_CELLS} rows.`
  return invalidField('step', wrong, `Request a shorter period, a longer step, or ${shorten}.`)
}

/** The number of groups depends on the period alone, and finding the top groups reads all of them. */
function tooManyGroups(): Refusal {
  return invalidField('from', `results in more than ${MAX_USAGE_CELLS} groups.`, 'Request a shorter period.')
}

interface Period {
  from: Date
  to: Date
}

/**
 * Returns the requested period.
 * @param usualMs its length if one of its ends is not given
 */
export function periodOf(
  asked: { from?: Date | undefined; to?: Date | undefined },
  now: Date,
  usualMs: number,
): Period {
  const to = asked.to ?? (asked.from ? new Date(asked.from.getTime() + usualMs) : now)
  return { from: asked.from ?? new Date(to.getTime() - usualMs), to }
}

/** Extends a period to whole hours. */
export function wholeHours({ from, to }: Period): Period {
  return {
    from: new Date(Math.floor(from.getTime() / HOUR_MS) * HOUR_MS),
    to: new Date(Math.ceil(to.getTime() / HOUR_MS) * HOUR_MS),
  }
}

/** A usage report as a table. */
function usageTable({ by, step, data, total }: UsageReport): CsvRow[] {
  const columns = (Object.keys(columnOf) as (keyof UsageFigures)[]).filter((column) => column in total)
  return [
    [...(step ? ['time'] : []), by, ...columns.map((column) => columnOf[column])],
    ...data.map((row) => [
      ...(row.time === undefined ? [] : [row.time]),
      row.group,
      ...columns.map((column) => row[column] ?? null),
    ]),
  ]
}

const columnOf: Required<Record<keyof UsageFigures, string>> = {
  calls: 'calls',
  promptTokens: 'prompt_tokens',
  completionTokens: 'completion_tokens',
  chargedMicro: 'charged_micro',
  errors: 'errors',
  latencyP50Ms: 'latency_p50_ms',
  latencyP95Ms: 'latency_p95_ms',
  firstTokenP50Ms: 'first_token_p50_ms',
  firstTokenP95Ms: 'first_token_p95_ms',
}

/** The groups with the most, as GET …/usage has them. */
type UsageOrder = 'spend' | 'calls' | 'tokens' | 'errors'

const valueOf: Record<UsageOrder, (sums: UsageSums) => bigint> = {
  spend: ({ charged }) => charged,
  calls: ({ calls }) => calls,
  tokens: ({ prompt, completion }) => prompt + completion,
  errors: ({ errors }) => errors,
}

/** Sorts groups, largest first; those with as much by calls, then by name. */
function inOrder<Group extends UsageCell>(groups: readonly Group[], order: UsageOrder): Group[] {
  const value = valueOf[order]
  return groups.toSorted(
    (a, b) =>
      descending(value(a), value(b)) || descending(a.calls, b.calls) || (String(a.group) < String(b.group) ? -1 : 1),
  )
}

const descending = (a: bigint, b: bigint) => (a === b ? 0 : a > b ? -1 : 1)

/** What a report adds up. */
interface UsageParts {
  /** By group and step. */
  cells: readonly UsageCell[]
  /** By step alone. */
  steps: readonly UsageCell[]
  /** By group alone. */
  groups: readonly UsageCell[]
  groupCount: number
  total: UsageSums
}

/** Adds up cells of all groups in every way that a report has. */
export function partsOfCells(cells: readonly UsageCell[]): UsageParts {
  const by = (field: 'step' | 'group') =>
    [...Map.groupBy(cells, (cell) => cell[field]).values()].map((some) => ({
      step: null,
      group: null,
      [field]: some[0]![field],
      ...sumOf(some),
    }))
  const groups = by('group')
  return { cells, steps: by('step'), groups, groupCount: groups.length, total: sumOf(cells) }
}

/**
 * The figures of a report.
 * @param timeOf start of a step; null without steps
 */
export function composeUsage(
  { cells, steps, groups, groupCount, total }: UsageParts,
  timeOf: ((step: number) => string) | null,
  options: { withLatency: boolean },
): Pick<UsageReport, 'data' | 'steps' | 'groups' | 'groupCount' | 'total'> {
  const figures = (sums: UsageSums) => usageFigures(sums, options)
  const time = ({ step }: UsageCell) => timeOf!(step!)
  return {
    data: cells.map((cell) => ({ ...(timeOf && { time: time(cell) }), group: cell.group, ...figures(cell) })),
    ...(timeOf && {
      steps: steps.map((cell) => ({ time: time(cell), ...figures(cell) })),
      groups: groups.map((cell) => ({ group: cell.group, ...figures(cell) })),
    }),
    groupCount,
    total: figures(total),
  }
}
