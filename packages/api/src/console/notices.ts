import { z } from 'zod'
import { exampleIds } from '../example-ids.ts'
import { id, micro, time } from './fields.ts'

export const noticeLimits = { thresholds: 10 } as const

const amount = z.int().min(1).max(Number.MAX_SAFE_INTEGER)
const some = <Item extends z.ZodType>(item: Item) =>
  z
    .array(item)
    .max(noticeLimits.thresholds)
    .refine((list) => new Set(list).size === list.length, 'must not hold a value twice')

export const noticeThresholds = z
  .strictObject({
    belowMicro: some(amount).describe('micro-USD: told when what was funded less what was charged comes below it'),
    daysLeft: z
      .int()
      .min(1)
      .max(365)
      .nullable()
      .describe('told when that lasts for fewer days at the pace of the last seven; looked at once an hour'),
    keyPercents: some(z.int().min(1).max(100)).describe(
      'of the limit of any key: told when its window has spent so much',
    ),
  })
  .meta({ examples: [{ belowMicro: [5_000_000, 1_000_000], daysLeft: 3, keyPercents: [80, 100] }] })
export type NoticeThresholds = z.infer<typeof noticeThresholds>

export const newWebhookBody = z
  .strictObject({
    url: z
      .url({ protocol: /^https?$/, normalize: false })
      .max(2048)
      .refine((text) => {
        if (!URL.canParse(text)) return true // reported by the rule before
        const { username, password, hash } = new URL(text)
        return username === '' && password === '' && hash === ''
      }, 'must have no user, password or fragment')
      .describe('an address on the public internet, by https'),
  })
  .meta({ examples: [{ url: 'https://hooks.example.com/notices' }] })
export const webhookRecord = z.strictObject({ id, url: z.string(), createdBy: id, createdAt: time }).meta({
  examples: [
    {
      id: exampleIds.webhook,
      url: 'https://hooks.example.com/notices',
      createdBy: exampleIds.user,
      createdAt: '2026-11-20T09:00:00.000Z',
    },
  ],
})
export type WebhookRecord = z.infer<typeof webhookRecord>

export const deliveryRecord = z.strictObject({
  webhook: id,
  state: z.enum(['Pending', 'Delivered', 'Dead']).describe('Dead: it was tried for the last time'),
  tries: z.int(),
  status: z.int().nullable().describe('of the last answer'),
  error: z
    .string()
    .nullable()
    .describe('why there was no answer: timeout, unreachable, unknown_host, private, not_https or key_missing'),
  nextTryAt: time.nullable(),
  endedAt: time.nullable(),
})

export const noticeRecord = z
  .strictObject({
    id,
    kind: z.enum(['wallet.below', 'wallet.days_left', 'key.percent']),
    threshold: z.int().describe('the micro-USD, days or percent that were crossed'),
    at: time,
    open: z
      .boolean()
      .describe('whether its threshold is crossed now, in the same window, and no newer notice tells of it'),
    remainingMicro: micro.nullable().describe('of a wallet: what was funded less what was charged'),
    key: id.nullable().describe('of a window: the key that crossed'),
    windowStart: time.nullable(),
    limitMicro: micro.nullable(),
    spentMicro: micro.nullable(),
    deliveries: z.array(deliveryRecord).describe('to the webhooks that the project had at that time and still has'),
  })
  .meta({
    examples: [
      {
        id: exampleIds.notice,
        kind: 'wallet.below',
        threshold: 5_000_000,
        at: '2026-11-20T09:12:31.250Z',
        open: true,
        remainingMicro: 4_999_120,
        key: null,
        windowStart: null,
        limitMicro: null,
        spentMicro: null,
        deliveries: [
          {
            webhook: exampleIds.webhook,
            state: 'Delivered',
            tries: 1,
            status: 204,
            error: null,
            nextTryAt: null,
            endedAt: '2026-11-20T09:12:32.000Z',
          },
        ],
      },
    ],
  })
export type NoticeRecord = z.infer<typeof noticeRecord>
