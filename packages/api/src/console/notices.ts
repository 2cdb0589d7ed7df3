import { z } from 'zod'
import { exampleIds } from '../example-ids.ts'
import { id, micro, time } from './fields.ts'
import { pageQuery } from './page.ts'

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

const endpointUrl = z
  .url({ protocol: /^https?$/, normalize: false })
  .max(2048)
  .refine((text) => {
    if (!URL.canParse(text)) return true // reported by the rule before
    const { username, password, hash } = new URL(text)
    return username === '' && password === '' && hash === ''
  }, 'must have no user, password or fragment')
  .describe('an https URL on the public internet')

export const newWebhookBody = z
  .discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('standard').optional().describe('signed JSON'), url: endpointUrl }),
    z.strictObject({
      kind: z.literal('slack').describe('text for an incoming webhook of Slack, or of a service that takes the same'),
      url: endpointUrl,
    }),
    z.strictObject({
      kind: z.literal('email').describe('needs a mail server'),
      user: id.nullable().describe('a user with a role on the project; null: its Project Owners at that time'),
    }),
  ])
  .meta({ examples: [{ url: 'https://hooks.example.com/notices' }] })
export const webhookRecord = z
  .strictObject({
    id,
    kind: z.enum(['standard', 'slack', 'email']),
    url: z
      .string()
      .nullable()
      .describe('null: by email; of Slack without the path, which is a secret: anyone who has it can post there'),
    user: id.nullable().describe('by email: the user who gets it; null: the Project Owners'),
    createdBy: id,
    createdAt: time,
    failingSince: time
      .nullable()
      .describe('when a delivery was given up or could not be signed; null again after the next one that is taken'),
    earlierSecretsUntil: time
      .nullable()
      .describe('until when a secret from before the last rotation signs as well; null: only the newest one does'),
  })
  .meta({
    examples: [
      {
        id: exampleIds.webhook,
        kind: 'standard',
        url: 'https://hooks.example.com/notices',
        user: null,
        createdBy: exampleIds.user,
        createdAt: '2026-11-20T09:00:00.000Z',
        failingSince: null,
        earlierSecretsUntil: null,
      },
    ],
  })
export type WebhookRecord = z.infer<typeof webhookRecord>

export const rotateSecretBody = z
  .strictObject({
    graceSeconds: z
      .int()
      .min(0)
      .max(86_400)
      .optional()
      .describe(
        'how long earlier secrets sign as well; 0 ends all of them at once. Left out: as long as the operator allows',
      ),
  })
  .meta({ examples: [{ graceSeconds: 3_600 }] })

const delivery = {
  state: z.enum(['Pending', 'Delivered', 'Dead']).describe('Dead: no further attempt'),
  tries: z.int(),
  status: z.int().nullable().describe('HTTP status of the last response'),
  error: z
    .string()
    .nullable()
    .describe(
      'reason for the missing response: timeout, unreachable, unknown_host, private, not_https or key_missing; by email: not_mailed or no_recipient',
    ),
  nextTryAt: time.nullable(),
  endedAt: time.nullable(),
}
export const deliveryRecord = z.strictObject({ webhook: id, ...delivery })

const thresholdKind = z.enum(['wallet.below', 'wallet.days_left', 'key.percent', 'budget.percent'])
/** What happens without a threshold. A test is sent to one webhook and is not listed with the notices. */
const eventKind = z.enum(['key.rotated', 'key.leaked', 'token.leaked', 'webhook.failing'])
const noticeKind = z.enum([...thresholdKind.options, ...eventKind.options])

export const webhookDelivery = z
  .strictObject({
    notice: id.describe('also its `webhook-id`'),
    kind: z.enum([...noticeKind.options, 'webhook.test']),
    at: time.describe('when the notice was written'),
    ...delivery,
  })
  .meta({
    examples: [
      {
        notice: exampleIds.notice,
        kind: 'wallet.below',
        at: '2026-11-20T09:12:31.250Z',
        state: 'Dead',
        tries: 10,
        status: 500,
        error: null,
        nextTryAt: null,
        endedAt: '2026-11-22T08:02:11.000Z',
      },
    ],
  })
export type WebhookDelivery = z.infer<typeof webhookDelivery>
export const deliveryQuery = pageQuery
  .extend({ state: deliveryRecord.shape.state.optional() })
  .meta({ examples: [{ state: 'Pending', limit: 20 }] })

/** Longest part of a reported address that is kept. */
export const MAX_LOCATION = 500
const text = z.string().max(MAX_LOCATION)
export const noticeDetails = z
  .strictObject({
    by: id.describe('key.rotated: the user, or the key itself'),
    replacement: id.describe('key.rotated, key.leaked: the key that replaces it'),
    token: id.describe('token.leaked'),
    location: text.describe('key.leaked, token.leaked: where it was found, as it was reported and never opened by us'),
    source: text.describe('key.leaked, token.leaked: what kind of place that is, as it was reported'),
    webhook: id.describe('webhook.failing'),
    status: z.int().describe('webhook.failing: HTTP status of the last response'),
    error: text.describe('webhook.failing: reason for the missing response'),
    budget: id.describe('budget.percent'),
    budgetOf: z.enum(['user', 'team', 'tag']).describe('budget.percent: what it is a budget of'),
    subject: z.string().describe('budget.percent: the ID of the user or team, or the tag'),
  })
  .partial()

export const noticeRecord = z
  .strictObject({
    id,
    kind: noticeKind,
    threshold: z
      .int()
      .nullable()
      .describe('the threshold that was crossed, in micro-USD, days or percent; null: the alert has no threshold'),
    at: time,
    open: z
      .boolean()
      .describe(
        'whether the threshold is still crossed, in the same window, with no newer alert; for a rotation or a leak: whether it is less than a day old; for a webhook: whether it still fails',
      ),
    remainingMicro: micro.nullable().describe('balance of the wallet'),
    key: id
      .nullable()
      .describe('for a spending window: the key; for a rotation or a leak: the key that was replaced or found'),
    windowStart: time.nullable(),
    limitMicro: micro.nullable(),
    spentMicro: micro.nullable(),
    details: noticeDetails,
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
        details: {},
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
