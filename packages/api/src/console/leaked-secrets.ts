import { z } from 'zod'

/** Secrets in one report. */
export const MAX_REPORTED = 100

/** A secret that was found in public. Other fields are ignored: scanners may send more. */
const leakedSecret = z.object({
  token: z.string().min(1).max(1_000).describe('the secret: `svc_…`, `svu_…` or `svt_…`'),
  type: z.string().optional().describe('what the scanner calls it; not read'),
  url: z.string().nullish().describe('where it was found; its owner sees the first 500 characters'),
  source: z.string().nullish().describe('what kind of place that is, such as `commit`'),
})
export type LeakedSecret = z.infer<typeof leakedSecret>

/** The list that GitHub's secret scanning sends to its partners, or one secret. */
export const leakedSecretsBody = z.union([z.array(leakedSecret).min(1).max(MAX_REPORTED), leakedSecret]).meta({
  examples: [
    [
      {
        token: 'svc_shown-once',
        type: 'model_gateway_key',
        url: 'https://github.com/octo/repository/blob/main/.env',
        source: 'commit',
      },
    ],
  ],
})

export const receivedReport = z
  .strictObject({ received: z.int().describe('how many secrets were read; the same for known and unknown ones') })
  .meta({ examples: [{ received: 1 }] })
