import type { RevenueReport } from '@gateway/api/console/platform-money'
import type { ConsoleDeps } from '../deps.ts'
import { authorizeOnPlatform } from '../permissions/authorize.ts'
import type { Handler } from '../request/call.ts'
import { userOf } from '../sign-in/user.ts'

type Deps = Pick<ConsoleDeps, 'prisma' | 'now'>

const USUAL_MONTHS = 6

/** GET /api/v2/revenue: charges of all projects by month of admission and product, from the daily rollups. */
export function readRevenue({ prisma, now }: Deps): Handler<'readRevenue'> {
  return async (call, res) => {
    authorizeOnPlatform(userOf(res), 'revenue.read')
    const asked = call.query()
    const { from, to } = monthsOf(asked, now())
    const rows = await prisma.$queryRaw<Row[]>`
      SELECT to_char(d.day AT TIME ZONE 'UTC', 'YYYY-MM') AS month, d.product,
             (SELECT p.name FROM control.products p WHERE p.id = d.product) AS "productName",
             sum(d.calls)::bigint AS calls, sum(d.prompt)::bigint AS prompt, sum(d.completion)::bigint AS completion,
             sum(d.charged)::bigint AS charged
        FROM (SELECT u.day, u.product, sum(u.calls) AS calls, sum(u.prompt_tokens) AS prompt,
                     sum(u.completion_tokens) AS completion, sum(u.micro) AS charged
                FROM money.usage_days u
               WHERE u.day >= ${startOf(from)} AND u.day < ${startOf(later(to, 1))}
               GROUP BY u.day, u.product) d
       GROUP BY 1, 2 ORDER BY 1 DESC, charged DESC, 2`
    const report: RevenueReport = {
      from,
      to,
      asOf: now().toISOString(),
      data: rows.map(({ month, product, productName, calls, prompt, completion, charged }) => ({
        month,
        product,
        productName,
        calls: Number(calls),
        promptTokens: Number(prompt),
        completionTokens: Number(completion),
        chargedMicro: Number(charged),
      })),
      totalMicro: Number(rows.reduce((sum, { charged }) => sum + charged, 0n)),
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

function startOf(month: string): Date {
  return new Date(`${month}-01T00:00:00.000Z`)
}
