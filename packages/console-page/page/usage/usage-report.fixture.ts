import type { UsageFigures, UsageReport } from '@gateway/api/console/money'

export type UsageRow = UsageReport['data'][number]

const nothing = { calls: 0, promptTokens: 0, completionTokens: 0, chargedMicro: 0, errors: 0 }

/** Sums of figures; of percentiles, the last ones. */
function sumOf(rows: readonly UsageFigures[]): UsageFigures {
  return rows.reduce<UsageFigures>(
    (sum, row) => ({
      ...row,
      calls: sum.calls + row.calls,
      promptTokens: sum.promptTokens + row.promptTokens,
      completionTokens: sum.completionTokens + row.completionTokens,
      chargedMicro: sum.chargedMicro + row.chargedMicro,
      errors: sum.errors + row.errors,
    }),
    nothing,
  )
}

/** Report of these rows, with groups by spend. */
export function usageReportOf(
  period: Pick<UsageReport, 'from' | 'to' | 'by'> & { step?: 'day'; zone?: string },
  rows: readonly UsageRow[],
): UsageReport {
  const figures = ({ time: _, group: __, ...each }: UsageRow) => each
  const by = (field: 'time' | 'group') =>
    [...Map.groupBy(rows, (row) => row[field]).values()].map((some) => ({
      [field]: some[0]![field],
      ...sumOf(some.map(figures)),
    }))
  const groups = by('group') as NonNullable<UsageReport['groups']>
  return {
    ...period,
    data: [...rows],
    ...(period.step && {
      steps: by('time') as NonNullable<UsageReport['steps']>,
      groups: groups.toSorted((a, b) => b.chargedMicro - a.chargedMicro),
    }),
    groupCount: groups.length,
    total: sumOf(rows.map(figures)),
  }
}
