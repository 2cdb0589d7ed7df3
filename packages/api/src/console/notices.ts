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
    belowMicro: some(amount).describe('micro-USD: alert when the balance falls below this amount'),
    daysLeft: z
      .int()
      .min(1)
      .max(365)
      .nullable()
      .describe('alert when the runway (7-day average) is shorter than this many days; checked once an hour'),
    keyPercents: some(z.int().min(1).max(100)).describe(
      'percent of the limit of any key: alert when the spending in its window reaches it',
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
      .describe('an https URL on the public internet'),
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
  state: z.enum(['Pending', 'Delivered', 'Dead']).describe('Dead: no further attempt'),
  tries: z.int(),
  status: z.int().nullable().describe('HTTP status of the last response'),
  error: z
    .string()
    .nullable()
    .describe('reason for the missing response: timeout, unreachable, unknown_host, private, not_https or key_missing'),
  nextTryAt: time.nullable(),
  endedAt: time.nullable(),
})

export const noticeRecord = z
  .strictObject({
    id,
    kind: z.enum(['wallet.below', 'wallet.days_left', 'key.percent']),
    threshold: z.int().describe('the threshold that was crossed, in micro-USD, days or percent'),
    at: time,
    open: z.boolean().describe('whether the threshold is still crossed, in the same window, with no newer alert'),
    remainingMicro: micro.nullable().describe('balance of the wallet'),
    key: id.nullable().describe('for a spending window: the key'),
    windowStart: time.nullable(),
    limitMicro: micro.nullable(),
    spentMicro: micro.nullable(),
    deliveries: z
      .array(deliveryRecord)
      .describe('deliveries to the webhooks that existed at that time and still exist'),
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
