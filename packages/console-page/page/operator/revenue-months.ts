import type { RevenueFigures, RevenueReport } from '@gateway/api/console/platform-money'
import type { ChartSeries } from '../components/chart.tsx'
import { monthFrom } from '../statement/statement-month.ts'
import type { ChartStep } from '../components/chart-scale.ts'

export interface MonthFigures extends RevenueFigures {
  month: string
}

/** All products together, for each month of a report, newest first. */
export function monthsOf({ from, to, data }: Pick<RevenueReport, 'from' | 'to' | 'data'>): MonthFigures[] {
  const months: MonthFigures[] = []
  for (let month = to; month >= from; month = monthFrom(month, -1))
    months.push({ month, ...sumOf(data.filter((row) => row.month === month)) })
  return months
}

function sumOf(rows: readonly RevenueFigures[]): RevenueFigures {
  const sum = (of: (row: RevenueFigures) => number | null) => rows.reduce((all, row) => all + (of(row) ?? 0), 0)
  const isKnown = rows.some(({ costMicro }) => costMicro !== null)
  return {
    calls: sum(({ calls }) => calls),
    promptTokens: sum(({ promptTokens }) => promptTokens),
    completionTokens: sum(({ completionTokens }) => completionTokens),
    chargedMicro: sum(({ chargedMicro }) => chargedMicro),
    costedCalls: sum(({ costedCalls }) => costedCalls),
    costedMicro: sum(({ costedMicro }) => costedMicro),
    costMicro: isKnown ? sum(({ costMicro }) => costMicro) : null,
    marginMicro: isKnown ? sum(({ marginMicro }) => marginMicro) : null,
  }
}

/** Charges of each month next to what its providers charge. Charges without a known cost have their own color. */
export function revenueChart(months: readonly MonthFigures[]): { series: ChartSeries[]; steps: ChartStep[] } {
  const unknownOf = ({ chargedMicro, costedMicro }: RevenueFigures) => chargedMicro - costedMicro
  const hasUnknown = months.some((month) => unknownOf(month) > 0)
  const series = [
    { name: hasUnknown ? 'Charged, cost known' : 'Charged', color: 0, stack: 'charged' },
    ...(hasUnknown ? [{ name: 'Charged, cost unknown', color: 6, stack: 'charged' }] : []),
    { name: 'Provider cost', color: 1, stack: 'cost' },
  ]
  const steps = months.toReversed().map((each) => ({
    from: `${each.month}-01T00:00:00.000Z`,
    to: `${monthFrom(each.month, 1)}-01T00:00:00.000Z`,
    values: [each.costedMicro, ...(hasUnknown ? [unknownOf(each)] : []), each.costMicro ?? 0],
  }))
  return { series, steps }
}

/** Margin as a share of what the calls with a known cost were charged; null: these were free, or no cost is known. */
export function marginRate({ marginMicro, costedMicro }: RevenueFigures): number | null {
  return marginMicro === null || costedMicro === 0 ? null : marginMicro / costedMicro
}

/** Share of the charges whose provider cost is known; without charges, of the calls. null: there were no calls. */
export function knownShare({ calls, costedCalls, chargedMicro, costedMicro }: RevenueFigures): number | null {
  if (calls === 0) return null
  return chargedMicro > 0 ? costedMicro / chargedMicro : costedCalls / calls
}

const percent = new Intl.NumberFormat('en', { style: 'percent', maximumFractionDigits: 1 })
const wholePercent = new Intl.NumberFormat('en', {
  style: 'percent',
  maximumFractionDigits: 1,
  roundingMode: 'trunc', // 100% only if nothing is unknown
})

export function rateText(rate: number): string {
  return percent.format(rate)
}

/** Never rounds up. */
export function shareText(share: number): string {
  return wholePercent.format(share)
}
