import { z } from 'zod'
import { exampleIds, exampleValues } from '../example-ids.ts'
import { id, micro, time } from './fields.ts'
import { pageOf, pageQuery } from './page.ts'

// A project's money on the ledger: statements, deposits, and the journal (rules §7.7).

const DAY_MS = 86_400_000
const MAX_DAYS = 400

const isInRange = (text: string) => text >= '1970' && text < '9998'
const day = z.iso.date().refine(isInRange, 'must be from 1970 to 9997')
export const format = z.enum(['json', 'csv']).default('json').describe('csv: comma-separated values, for a spreadsheet')

export const statementQuery = z
  .strictObject({
    month: z
      .string()
      .regex(/^\d{4}-(0[1-9]|1[0-2])$/, 'must be a month such as 2026-11')
      .refine(isInRange, 'must be from 1970 to 9997')
      .optional()
      .describe('a month in UTC, such as 2026-11; by default the current one'),
    from: day.optional().describe('the first day, in UTC, such as 2026-11-01'),
    to: day.optional().describe('the day after the last day'),
    format,
  })
  .superRefine(({ month, from, to }, context) => {
    const problem = (path: string, message: string) => context.addIssue({ code: 'custom', path: [path], message })
    if (month !== undefined && (from ?? to) !== undefined) return problem('month', 'does not go with from and to')
    if ((from === undefined) !== (to === undefined)) return problem(from === undefined ? 'from' : 'to', 'is needed too')
    if (from === undefined || to === undefined) return
    const days = (Date.parse(to) - Date.parse(from)) / DAY_MS
    if (!(days > 0 && days <= MAX_DAYS)) problem('from', `must be before to, by at most ${MAX_DAYS} days`)
  })
  .meta({ examples: [{ month: exampleValues.month }] })

const dayText = z.string().describe('in UTC, such as 2026-11-20')
const calls = z.int().describe('calls settled in this period')

export const statement = z
  .strictObject({
    from: dayText,
    to: z.string().describe('the day after the last day, in UTC'),
    asOf: time.describe('time of the snapshot, ISO 8601, UTC'),
    final: z.boolean().describe('the period is over, and its amounts are final'),
    openingMicro: micro.describe('micro-USD: balance at the start of the period, available plus reserved'),
    fundedMicro: micro,
    correctedMicro: micro.describe('micro-USD; negative: debited'),
    chargedMicro: micro.describe('micro-USD, for calls settled in this period'),
    closingMicro: micro.describe('micro-USD: opening + funded + corrected - charged'),
    calls,
    charges: z.array(z.strictObject({ model: id, calls, chargedMicro: micro })).describe('charges by model'),
    tags: z
      .array(
        z.strictObject({ tag: z.string().nullable().describe('null: calls without one'), calls, chargedMicro: micro }),
      )
      .describe('charges by tag: the 1,000 largest'),
    tagCount: z.int().describe('number of tags with charges, and one more if calls without a tag were charged'),
    days: z
      .array(
        z.strictObject({
          day: dayText,
          fundedMicro: micro,
          correctedMicro: micro,
          chargedMicro: micro,
          calls,
          closingMicro: micro,
        }),
      )
      .describe('days with entries'),
    reservedMicro: micro.describe('micro-USD currently reserved by running calls'),
    reconciled: z.boolean().describe('whether wallet, journal, fundings and corrections agree'),
    differences: z
      .array(
        z.strictObject({
          what: z.string(),
          expected: z.int().describe('micro-USD; of journal entries, their number'),
          found: z.int(),
        }),
      )
      .describe('differences, if they do not agree'),
    check: z
      .strictObject({
        at: time,
        entry: z.int().describe('the last journal entry that was checked'),
        findings: z.int().describe('0: the books add up'),
      })
      .nullable()
      .describe('the last check of this wallet against its journal; null: not checked yet'),
    seal: z
      .strictObject({ entry: z.int(), sha256: z.string().describe('hex') })
      .nullable()
      .describe('seal of the last block of the journal; null: empty journal'),
  })
  .meta({
    examples: [
      {
        from: '2026-11-01',
        to: '2026-12-01',
        asOf: '2026-11-23T09:30:00.000Z',
        final: false,
        openingMicro: 4_000_000,
        fundedMicro: 1_000_000,
        correctedMicro: -500,
        chargedMicro: 1_250,
        closingMicro: 4_998_250,
        calls: 12,
        charges: [{ model: exampleIds.product, calls: 12, chargedMicro: 1_250 }],
        tags: [{ tag: 'nightly-summaries', calls: 12, chargedMicro: 1_250 }],
        tagCount: 1,
        days: [
          {
            day: '2026-11-20',
            fundedMicro: 1_000_000,
            correctedMicro: -500,
            chargedMicro: 1_250,
            calls: 12,
            closingMicro: 4_998_250,
          },
        ],
        reservedMicro: 308,
        reconciled: true,
        differences: [],
        check: { at: '2026-11-23T09:29:31.120Z', entry: 27, findings: 0 },
        seal: { entry: 27, sha256: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08' },
      },
    ],
  })
export type Statement = z.infer<typeof statement>

/** The only difference that is a number of entries; the others are in micro-USD. */
export const entriesDifference = 'journal entries of the wallet'

/** The cursor of this list is the id of a funding. */
export const fundingQuery = pageQuery
  .extend({ cursor: z.string().min(1).max(160).optional() })
  .meta({ examples: [{ limit: 20 }] })

export const fundingRecord = z
  .strictObject({
    id: id.describe('the funding ID or the correction ID'),
    kind: z.enum(['funding', 'correction']),
    micro: micro.describe('micro-USD; negative: debited'),
    reason: z.string().nullable().describe('of a correction'),
    user: id.describe('who did it'),
    userName: z.string().nullable().describe('null: the user no longer exists'),
    at: time,
  })
  .meta({
    examples: [
      {
        id: exampleValues.correctionId,
        kind: 'correction',
        micro: -500,
        reason: 'A funding that came in twice.',
        user: exampleIds.user,
        userName: 'Ada',
        at: '2026-11-20T10:00:00.000Z',
      },
    ],
  })
export type FundingRecord = z.infer<typeof fundingRecord>

const part = z.int().describe('micro-USD')
export const journalEntry = z
  .strictObject({
    seq: z.int().describe('sequence number, without gaps'),
    kind: z.enum(['fund', 'correct', 'reserve', 'settle', 'release']),
    reference: id.describe(
      'ID of the funding, the correction or the invocation; for a repeated invocation, the ID of the attempt',
    ),
    available: part,
    reserved: part,
    settled: part,
    outside: part.describe('micro-USD; the four parts of an entry sum to 0'),
    at: time,
    seal: z.string().nullable().describe('SHA-256 in hex, if this entry ends a block'),
  })
  .meta({
    examples: [
      {
        seq: 3,
        kind: 'settle',
        reference: exampleIds.invocation,
        available: 258,
        reserved: -308,
        settled: 50,
        outside: 0,
        at: '2026-11-20T10:00:01.250Z',
        seal: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
      },
    ],
  })
export type JournalEntry = z.infer<typeof journalEntry>

export const journalPage = pageOf(journalEntry).extend({
  archivedUpTo: z.int().nullable().describe('entries up to this one may be in the archive and no longer here'),
})
