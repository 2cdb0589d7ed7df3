import type { RevenueFigures, RevenueReport } from '@gateway/api/console/platform-money'
import type { ConsoleDeps } from '../deps.ts'
import { authorizeOnPlatform } from '../permissions/authorize.ts'
import type { Handler } from '../request/call.ts'
import { userOf } from '../sign-in/user.ts'

type Deps = Pick<ConsoleDeps, 'prisma' | 'now'>

const USUAL_MONTHS = 6

/** GET /api/v2/revenue: charges and provider costs of all projects by month of admission and product. */
export function readRevenue({ prisma, now }: Deps): Handler<'readRevenue'> {
  return async (call, res) => {
    authorizeOnPlatform(userOf(res), 'revenue.read')
    const asked = call.query()
    const { from, to } = monthsOf(asked, now())
    const rows = await prisma.$queryRaw<Row[]>`
      SELECT to_char(m.month, 'YYYY-MM') AS month, m.product,
             (SELECT p.name FROM control.products p WHERE p.id = m.product) AS "productName",
             m.calls, m.prompt_tokens AS prompt, m.completion_tokens AS completion, m.micro AS charged,
             m.costed_calls AS "costedCalls", m.costed_micro AS costed, m.cost_pico::text AS "costPico"
        FROM money.product_months m
       WHERE m.month >= ${startOf(from)}::date AND m.month < ${startOf(later(to, 1))}::date
       ORDER BY m.month DESC, m.micro DESC, m.product`
    const report: RevenueReport = {
      from,
      to,
      asOf: now().toISOString(),
      data: rows.map((row) => ({
        month: row.month,
        product: row.product,
        productName: row.productName,
        ...figuresOf([row]),
      })),
      total: figuresOf(rows),
    }
    res.json(report)
  }
}

interface Row {
  month: string
  product: string
  productName: string | null
  calls: bigint
  prompt: bigint
  completion: bigint
  charged: bigint
  costedCalls: bigint
  costed: bigint
  /** Digits: more than a bigint of Postgres holds. */
  costPico: string
}

const PICO_PER_MICRO = 1_000_000n

/** Sums exactly, then rounds the cost to the nearest micro-USD. An unknown cost is null, never zero. */
function figuresOf(rows: readonly Row[]): RevenueFigures {
  const sum = (of: (row: Row) => bigint) => rows.reduce((all, row) => all + of(row), 0n)
  const [costedCalls, costed] = [sum((row) => row.costedCalls), sum((row) => row.costed)]
  const cost = (sum((row) => BigInt(row.costPico)) + PICO_PER_MICRO / 2n) / PICO_PER_MICRO
  return {
    calls: Number(sum((row) => row.calls)),
    promptTokens: Number(sum((row) => row.prompt)),
    completionTokens: Number(sum((row) => row.completion)),
    chargedMicro: Number(sum((row) => row.charged)),
    costedCalls: Number(costedCalls),
    costedMicro: Number(costed),
    costMicro: costedCalls === 0n ? null : Number(cost),
    marginMicro: costedCalls === 0n ? null : Number(costed - cost),
  }
}

/** The requested months, or those up to the current one. */
function monthsOf(
  asked: { from?: string | undefined; to?: string | undefined },
  now: Date,
): { from: string; to: string } {
  const current = now.toISOString().slice(0, 7)
  const to = asked.to ?? (asked.from === undefined ? current : later(asked.from, USUAL_MONTHS - 1))
  return { from: asked.from ?? later(to, 1 - USUAL_MONTHS), to }
}

/** The month this many months after another one. */
function later(month: string, months: number): string {
  const [year, number] = month.split('-').map(Number) as [number, number]
  return new Date(Date.UTC(year, number - 1 + months)).toISOString().slice(0, 7)
}

function startOf(month: string): string {
  return `${month}-01`
}
