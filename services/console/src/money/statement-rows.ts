import type { Statement } from '@gateway/contracts/console/statement'
import type { CsvRow } from '../request/send-csv.ts'
import type { Line } from './compose-statement.ts'

const columns = ['day', 'entry', 'model', 'calls', 'amount_micro', 'balance_micro']
const words = { fund: 'funded', correct: 'corrected', settle: 'charged' } as const

/** A statement as a table: its lines between the opening and the closing balance, and what does not reconcile. */
export function statementRows(
  { from, to, openingMicro, closingMicro, differences }: Statement,
  lines: Line[],
): CsvRow[] {
  return [
    columns,
    [from, 'opening', '', '', '', openingMicro],
    ...lines.map(({ day, kind, product, entries, micro, balance }) => {
      const isCharge = kind === 'settle'
      return [day, words[kind], product, isCharge ? entries : '', isCharge ? -micro : micro, balance]
    }),
    [to, 'closing', '', '', '', closingMicro],
    ...differences.map(({ what, expected, found }) => [
      to,
      `not reconciled: ${what} (expected ${expected}, found ${found})`,
      '',
      '',
      '',
      '',
    ]),
  ]
}
