import { z } from 'zod'
import { exampleIds } from '../example-ids.ts'
import { id, micro, paragraph, time } from './fields.ts'
import { pageQuery } from './page.ts'

// Money of all projects, for platform operators (rules §7.13).

export const walletSort = z.enum([
  'organization',
  'project',
  'balance',
  'available',
  'reserved',
  'spend',
  'runway',
  'alerts',
])
export type WalletSort = z.infer<typeof walletSort>

export const walletsQuery = pageQuery
  .extend({
    q: paragraph(100).optional().describe('part of the name or ID of an organization or project'),
    sort: walletSort.default('organization'),
    order: z.enum(['asc', 'desc']).default('asc'),
  })
  .meta({ examples: [{ sort: 'runway', limit: 20 }] })

export const walletRow = z
  .strictObject({
    tenant: id,
    tenantName: z.string(),
    project: id,
    projectName: z.string(),
    balanceMicro: micro.describe('available plus reserved'),
    availableMicro: micro,
    reservedMicro: micro,
    spendMicro: micro.describe('charged in the last 30 days (UTC)'),
    runwayDays: z
      .int()
      .nullable()
      .describe(
        'whole days that the available amount lasts at the average of the last 7 days (UTC); null: nothing was charged',
      ),
    alerts: z.int().describe('alert rules of the wallet whose threshold is crossed: balance and runway'),
  })
  .meta({
    examples: [
      {
        tenant: exampleIds.tenant,
        tenantName: 'Acme',
        project: exampleIds.project,
        projectName: 'Search',
        balanceMicro: 4_998_750,
        availableMicro: 4_998_442,
        reservedMicro: 308,
        spendMicro: 1_250,
        runwayDays: 27_991,
        alerts: 0,
      },
    ],
  })
export type WalletRow = z.infer<typeof walletRow>

const month = z
  .string()
  .regex(/^(19[7-9]\d|[2-8]\d{3}|9[0-8]\d{2})-(0[1-9]|1[0-2])$/, 'must be a month such as 2026-11')
const MAX_MONTHS = 24
const monthNumber = (text: string) => Number(text.slice(0, 4)) * 12 + Number(text.slice(5))

export const revenueQuery = z
  .strictObject({
    from: month.optional().describe('first month in UTC; by default five months before `to`'),
    to: month.optional().describe('last month in UTC; by default the current one'),
  })
  .refine(
    ({ from, to }) => {
      const months = from && to ? monthNumber(to) - monthNumber(from) + 1 : 1
      return months >= 1 && months <= MAX_MONTHS
    },
    { path: ['from'], error: `must not be after to, and at most ${MAX_MONTHS} months with it` },
  )
  .meta({ examples: [{ from: '2026-06', to: '2026-11' }] })

const revenueFigures = {
  calls: z.int(),
  promptTokens: z.int(),
  completionTokens: z.int(),
  chargedMicro: micro.describe('charged for calls admitted in this time'),
  costedCalls: z.int().describe('calls whose provider cost is known'),
  costedMicro: micro.describe('charged for the calls whose provider cost is known'),
  costMicro: micro
    .nullable()
    .describe('what the providers of these calls charge, to the nearest micro-USD; null: it is known for no call'),
  marginMicro: micro.nullable().describe('`costedMicro` less `costMicro`; null: no cost is known'),
}
const figuresExample = {
  calls: 12,
  promptTokens: 1_204,
  completionTokens: 640,
  chargedMicro: 1_250,
  costedCalls: 11,
  costedMicro: 1_200,
  costMicro: 720,
  marginMicro: 480,
}

export const revenueReport = z
  .strictObject({
    from: z.string().describe('first month in UTC'),
    to: z.string().describe('last month in UTC'),
    asOf: time.describe('charges settled in the last seconds before may be missing'),
    data: z
      .array(
        z.strictObject({
          month: z.string(),
          product: id,
          productName: z.string().nullable().describe('null: the product is no longer in the catalogue'),
          ...revenueFigures,
        }),
      )
      .describe('by month, newest first, and amount'),
    total: z.strictObject(revenueFigures).describe('over all rows; the cost is rounded once, from the exact sum'),
  })
  .meta({
    examples: [
      {
        from: '2026-06',
        to: '2026-11',
        asOf: '2026-11-23T09:30:00.000Z',
        data: [{ month: '2026-11', product: exampleIds.product, productName: 'Swift', ...figuresExample }],
        total: figuresExample,
      },
    ],
  })
export type RevenueReport = z.infer<typeof revenueReport>
export type RevenueFigures = RevenueReport['total']
