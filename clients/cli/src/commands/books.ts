import { failure, Unreachable, ApiRefusal } from '@gateway/api-client/failures'
import { usd } from '@gateway/pricing/usd'
import { command, projectOptions, type Given } from '../frame/command-row.ts'
import { printRecord, printRows, type Cell } from '../frame/print.ts'
import { collect, readMoment, readWholeNumber } from './argument-values.ts'
import type { InvocationRecord } from '@gateway/api/console/money'

const limit = { type: 'string', value: 'number', summary: 'Maximum number of rows; 20 by default' } as const
const from = { type: 'string', value: 'moment', summary: 'Start of the period, such as 2026-11-20 or 7d' } as const
const to = { type: 'string', value: 'moment', summary: 'Before it' } as const
const model = { type: 'string', value: 'id', summary: 'Only calls to this model' } as const
const csv = { type: 'boolean', summary: 'Print comma-separated values, for a spreadsheet' } as const
const inProject = '/api/v2/tenants/{tenant}/projects/{project}'

const limitOf = (options: { limit?: string }) => readWholeNumber('--limit', options.limit ?? '20', { least: 1 })

function period({ io, options }: Pick<Given, 'io'> & { options: { from?: string; to?: string } }) {
  const moment = (name: 'from' | 'to') =>
    options[name] === undefined ? {} : { [name]: readMoment(`--${name}`, options[name], io.now()) }
  return { ...moment('from'), ...moment('to') }
}

/** Writes all of it, or nothing if the response breaks off. */
async function writeCsv(io: Given['io'], answer: Response): Promise<void> {
  const type = answer.headers.get('content-type') ?? 'of no type'
  if (!type.startsWith('text/csv')) throw new Unreachable(`The response is ${type} instead of text/csv.`, { answer })
  io.write(
    await answer.text().catch((cause: unknown) => {
      throw failure(cause, undefined)
    }),
  )
}

/** Commands for calls and their costs. */
export const bookCommands = [
  command({
    name: 'calls list',
    summary: 'List calls of the project, newest first',
    options: { ...projectOptions, model, from, to, limit },
    examples: ['gateway calls list', 'gateway calls list --from 7d --limit 5 --json'],
    async handle(given) {
      const atMost = limitOf(given.options)
      const query = { ...period(given), model: given.options.model, limit: Math.min(atMost, 100) }
      const params = await given.session.project()
      const pages = (await given.session.user()).pages(`${inProject}/invocations`, { params, query })
      printRows(given, await collect(pages, atMost), callColumns)
    },
  }),
  command({
    name: 'calls tail',
    summary: 'Show calls of the project as they finish',
    options: {
      ...projectOptions,
      since: { type: 'string', value: 'span', summary: 'Include calls admitted in this time, such as 1h' },
      count: { type: 'string', value: 'number', summary: 'Exit after this many calls; by default it never exits' },
    },
    examples: ['gateway calls tail --since 1d --count 1', 'gateway calls tail --since 1d --count 1 --json'],
    async handle(given) {
      const { since, count } = given.options
      const from = since === undefined ? undefined : readMoment('--since', since, given.io.now())
      const atMost = count === undefined ? Number.POSITIVE_INFINITY : readWholeNumber('--count', count, { least: 1 })
      await tailCalls(given, { from, atMost })
    },
  }),
  command({
    name: 'usage',
    summary: 'Show usage and cost',
    options: {
      ...projectOptions,
      from,
      to,
      by: {
        type: 'string',
        value: 'group',
        summary: 'Group by',
        choices: ['model', 'key', 'user', 'sandbox', 'tag', 'day'],
      },
      step: { type: 'string', value: 'step', summary: 'Interval of the rows', choices: ['hour', 'day'] },
      zone: { type: 'string', value: 'name', summary: 'Time zone of --step; UTC by default' },
      csv,
    },
    examples: [
      'gateway usage --by model',
      'gateway usage --from 7d --step day --zone Europe/Berlin --csv',
      'gateway usage --json',
    ],
    async handle(given) {
      const { io, options, session } = given
      const { by, step, zone } = options as { by?: 'model'; step?: 'day'; zone?: string }
      const query = { ...period(given), by, step, zone }
      const request = { params: await session.project(), query }
      const api = await session.user()
      if (options.csv) {
        const answer = await api.raw('GET', `${inProject}/usage`, { ...request, query: { ...query, format: 'csv' } })
        return writeCsv(io, answer)
      }
      const report = await api.ask('GET', `${inProject}/usage`, request)
      if (options.json === true) return printRecord(given, report, {})
      printRows(given, report.data, {
        ...(step !== undefined && { time: ({ time }) => time ?? null }),
        [report.by]: ({ group }) => group,
        '>calls': ({ calls }) => calls,
        '>prompt tokens': ({ promptTokens }) => promptTokens,
        '>answered tokens': ({ completionTokens }) => completionTokens,
        '>charged': ({ chargedMicro }) => usd(chargedMicro),
      })
      io.say(`${report.from} to ${report.to}: ${usd(report.total.chargedMicro)}`)
    },
  }),
  command({
    name: 'statement',
    summary: 'Show the statement of a month: deposits, charges and closing balance',
    operands: [
      { name: 'month', summary: 'a month in UTC, such as 2026-11; by default the current one', optional: true },
    ],
    options: { ...projectOptions, csv },
    examples: ['gateway statement', 'gateway statement --csv'],
    async handle(given) {
      const { io, operands, options, session } = given
      const query = { month: operands[0] }
      const request = { params: await session.project(), query }
      const api = await session.user()
      if (options.csv) {
        const answer = await api.raw('GET', `${inProject}/statement`, {
          ...request,
          query: { ...query, format: 'csv' },
        })
        return writeCsv(io, answer)
      }
      printRecord(given, await api.ask('GET', `${inProject}/statement`, request), {
        from: ({ from }) => from,
        to: ({ to, final }) => `${to}${final ? '' : ' (month not over)'}`,
        opening: ({ openingMicro }) => usd(openingMicro),
        funded: ({ fundedMicro }) => usd(fundedMicro),
        corrected: ({ correctedMicro }) => usd(correctedMicro),
        charged: ({ chargedMicro, calls }) => `${usd(chargedMicro)} for ${calls} calls`,
        closing: ({ closingMicro }) => usd(closingMicro),
        'adds up': ({ reconciled }) => (reconciled ? 'yes' : 'no'),
      })
    },
  }),
  command({
    name: 'wallet',
    summary: "Show the balance of the project's wallet",
    options: projectOptions,
    examples: ['gateway wallet', 'gateway wallet --json'],
    async handle(given) {
      const params = await given.session.project()
      printRecord(given, await (await given.session.user()).ask('GET', `${inProject}/wallet`, { params }), {
        available: ({ availableMicro }) => usd(availableMicro),
        reserved: ({ reservedMicro }) => usd(reservedMicro),
        charged: ({ settledMicro }) => usd(settledMicro),
        funded: ({ fundedMicro }) => usd(fundedMicro),
      })
    },
  }),
  command({
    name: 'audit',
    summary: 'Show who changed what in the organization, newest first',
    options: {
      organization: projectOptions.organization,
      action: { type: 'string', value: 'name', summary: 'Only this action, such as key.create' },
      user: { type: 'string', value: 'id', summary: 'Only by them' },
      from,
      to,
      limit,
    },
    examples: ['gateway audit', 'gateway audit --action key.create --from 7d --json'],
    async handle(given) {
      const { action, user } = given.options
      const atMost = limitOf(given.options)
      const { tenant } = await given.session.organization()
      const pages = (await given.session.user()).pages('/api/v2/tenants/{tenant}/audit', {
        params: { tenant },
        query: { ...period(given), action, user, limit: Math.min(atMost, 100) },
      })
      printRows(given, await collect(pages, atMost), {
        at: ({ at }) => at,
        user: ({ user }) => user,
        action: ({ action }) => action,
        subject: ({ subject }) => subject,
      })
    },
  }),
]

const PAUSE_MS = 2_000
const PATIENCE_MS = 120_000

const PAGE = 100
const FIRST_SPAN_MS = 3_600_000
const SHORTEST_SPAN_MS = 1_000

/**
 * Shows each call once, when it has ended; in order of admission within one poll. First catches up with `from`, if it is
 * given, oldest calls first: in spans that fit a page, because lists begin with the newest call. Then each poll lists
 * only calls since the newest known one, and reads the open ones by id. Without `from` it starts after the newest call.
 * Continues while the service does not respond for up to two minutes.
 */
async function tailCalls(given: Given, { from, atMost }: { from: string | undefined; atMost: number }): Promise<void> {
  const { io, session } = given
  const params = await session.project()
  const api = await session.user()
  let since = from
  let spanMs = from === undefined ? null : FIRST_SPAN_MS // null: has caught up
  let startMs: number | null = null // by the newest call, since the local clock may be wrong
  let shown = new Set<string>() // by the last list, whose newest calls the next one repeats
  let open: string[] = []

  const list = async (query: { from?: string | undefined; to?: string | undefined; limit: number }, atMost?: number) =>
    (await collect(api.pages(`${inProject}/invocations`, { params, query }), atMost)).toReversed()

  async function start(): Promise<number> {
    const [newest] = await list({ limit: 1 }, 1)
    if (newest !== undefined && from === undefined) {
      since = newest.createdAt
      shown.add(newest.id)
    }
    return newest === undefined ? -Infinity : Date.parse(newest.createdAt)
  }

  /** Lists the next span that has less than a page of calls. The last one has no end. */
  async function listNext(): Promise<InvocationRecord[]> {
    startMs ??= await start()
    while (spanMs !== null) {
      const untilMs = Date.parse(since!) + spanMs
      const to = untilMs > startMs ? undefined : new Date(untilMs).toISOString()
      const isDivisible = spanMs > SHORTEST_SPAN_MS
      const listed = await list({ from: since, to, limit: PAGE }, isDivisible ? PAGE : undefined)
      if (isDivisible && listed.length === PAGE) {
        spanMs = Math.max(SHORTEST_SPAN_MS, spanMs / 8)
        continue
      }
      if (to === undefined) spanMs = null
      else if (listed.length < PAGE / 4) spanMs *= 4
      since = to ?? since
      return listed
    }
    return list({ from: since, limit: PAGE })
  }

  async function look() {
    const listed = await listNext()
    if (spanMs !== null) return { listed, calls: listed }
    const ids = new Set(listed.map(({ id }) => id))
    const earlier: InvocationRecord[] = []
    for (const invocation of open.filter((id) => !ids.has(id)))
      earlier.push(await api.ask('GET', `${inProject}/invocations/{invocation}`, { params: { ...params, invocation } }))
    return { listed, calls: [...earlier, ...listed] }
  }
  let answeredMs = io.now()
  for (let count = 0; ;) {
    const found = await look().catch((error: unknown) => {
      if (!isPassing(error) || io.now() - answeredMs > PATIENCE_MS) throw error
      return null
    })
    if (found === null) {
      io.progress('No response; retrying …')
      await io.wait(PAUSE_MS)
      continue
    }
    answeredMs = io.now()
    const { listed, calls } = found
    const ended = calls.filter(({ id, state }) => state !== 'Open' && !shown.has(id)).slice(0, atMost - count)
    if (ended.length > 0) printRows(given, ended, callColumns, { isContinued: count > 0 })
    count += ended.length
    if (count >= atMost) return
    const isBehind = spanMs !== null
    const opened = calls.filter(({ id, state }) => state === 'Open' && !shown.has(id)).map(({ id }) => id)
    open = isBehind ? [...open, ...opened] : opened
    if (isBehind) continue
    since = listed.at(-1)?.createdAt ?? since
    shown = new Set(listed.filter(({ id, state }) => state !== 'Open' || shown.has(id)).map(({ id }) => id))
    io.progress('Waiting for calls …')
    await io.wait(PAUSE_MS)
  }
}

/** Whether another poll may succeed; it waits as long as the service asks. */
function isPassing(error: unknown): boolean {
  const { worth, afterMs } =
    error instanceof ApiRefusal || error instanceof Unreachable ? error.again : { worth: false, afterMs: 0 }
  return worth && (afterMs ?? 0) < PAUSE_MS
}

/** Columns of a call. */
const callColumns: Readonly<Record<string, (call: InvocationRecord) => Cell>> = {
  admitted: ({ createdAt }) => createdAt,
  call: ({ id }) => id,
  model: ({ model }) => model,
  state: ({ state, reason }) => (reason === null ? state : `${state}: ${reason}`),
  '>prompt': ({ promptTokens }) => promptTokens,
  '>answered': ({ completionTokens }) => completionTokens,
  '>charged': ({ chargedMicro }) => usd(chargedMicro),
}
