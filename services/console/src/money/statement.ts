import type { ConsoleRoutes } from '@gateway/api/console-routes'
import { recordChange } from '../audit/record-change.ts'
import type { ConsoleDeps } from '../deps.ts'
import { inProject } from '../permissions/authorize.ts'
import type { Call, Handler } from '../request/call.ts'
import { invalidField } from '../request/check.ts'
import type { Refusal } from '@gateway/api/refusal'
import type { CsvRow } from '@gateway/api/csv-text'
import { sendCsv } from '../request/send-csv.ts'
import { userOf } from '../sign-in/user.ts'
import { composeStatement, type Line, type Period } from './compose-statement.ts'
import { MAX_BOOKINGS, readBooked } from './read-booked.ts'
import type { Statement } from '@gateway/api/console/statement'

/**
 * GET …/projects/{p}/statement: opening balance + funded + corrected - charged = closing balance (rules §7.7), all of
 * one moment. A statement that does not reconcile says so, and is counted for an alert.
 */
export function readStatement(deps: Pick<ConsoleDeps, 'prisma' | 'now' | 'log' | 'metrics'>): Handler<'readStatement'> {
  return async (call, res) => {
    const { tenant, project } = await inProject(deps.prisma, call, res, 'wallet.read')
    const query = call.query()
    const period = periodOf(query, deps.now())
    const booked = await readBooked(deps, project, period, query.format === 'csv' ? 'lines' : 'days')
    if (booked.bookings.length > MAX_BOOKINGS) throw tooManyLines(query)
    const { statement, lines } = composeStatement(booked, period)
    if (!statement.reconciled) {
      deps.metrics.statementDiffered()
      deps.log.error({ project, ...period, differences: statement.differences }, 'statement does not reconcile')
    }
    if (query.format === 'json') return void res.json(statement)
    const what = {
      action: 'statement.export' as const,
      subject: project,
      details: { from: period.from, to: period.to },
    }
    await recordChange(deps.prisma, { tenant, user: userOf(res).id, ...what })
    sendCsv(res, `statement-${project}-${period.from}-${period.to}`, statementRows(statement, lines))
  }
}

function tooManyLines({ month }: Query): Refusal {
  return invalidField(
    month === undefined ? 'from' : 'month',
    `results in more than ${MAX_BOOKINGS} lines.`,
    'Request fewer days with from and to, or, if a single day has that many, the statement as JSON (format=json).',
  )
}

function periodOf({ month, from, to }: Query, now: Date): Period {
  if (from !== undefined && to !== undefined) return { from, to }
  const first = new Date(`${month ?? now.toISOString().slice(0, 7)}-01T00:00:00Z`)
  const end = new Date(first)
  end.setUTCMonth(end.getUTCMonth() + 1)
  return { from: first.toISOString().slice(0, 10), to: end.toISOString().slice(0, 10) }
}

type Query = ReturnType<Call<ConsoleRoutes['readStatement']>['query']>

const columns = ['day', 'entry', 'model', 'tag', 'calls', 'amount_micro', 'balance_micro']
const words = { fund: 'funded', correct: 'corrected', settle: 'charged' } as const

/**
 * Statement as a table: lines between the opening and the closing balance, and differences if it does not reconcile.
 */
export function statementRows(
  { from, to, openingMicro, closingMicro, differences }: Statement,
  lines: Line[],
): CsvRow[] {
  return [
    columns,
    [from, 'opening', '', '', '', '', openingMicro],
    ...lines.map(({ day, kind, product, tag, entries, micro, balance }) => {
      const isCharge = kind === 'settle'
      return [day, words[kind], product, tag, isCharge ? entries : '', isCharge ? -micro : micro, balance]
    }),
    [to, 'closing', '', '', '', '', closingMicro],
    ...differences.map(({ what, expected, found }) => [
      to,
      `not reconciled: ${what} (expected ${expected}, found ${found})`,
      '',
      '',
      '',
      '',
      '',
    ]),
  ]
}
