import { expect, test } from 'vitest'
import { type NamedNotice, noticeText } from './notice-text.ts'

const notice = (part: Partial<NamedNotice>): NamedNotice => ({
  kind: 'webhook.test',
  threshold: null,
  remaining_micro: null,
  key: null,
  limit_micro: null,
  spent_micro: null,
  details: {},
  project_name: 'Search',
  key_name: null,
  ...part,
})
const ofKey = { key: 'key_1', key_name: 'ci' }

test.for<[facts: Partial<NamedNotice>, subject: string, ...lines: string[]]>([
  [
    { kind: 'wallet.below', threshold: 5_000_000n, remaining_micro: 4_999_120n },
    'Balance of Search below $5.00',
    'The wallet balance of Search fell below $5.00. $4.99912 remaining.',
  ],
  [
    { kind: 'wallet.days_left', threshold: 7n, remaining_micro: 12_500_000n },
    'Runway of Search below 7 days',
    'At its current pace, the wallet of Search lasts less than 7 days. $12.50 remaining.',
  ],
  [
    { kind: 'key.percent', threshold: 80n, spent_micro: 8_000_000n, limit_micro: 10_000_000n, ...ofKey },
    'The key ci of Search reached 80% of its spending limit',
    'The key ci of Search reached 80% of its spending limit. $8.00 of $10.00 spent.',
  ],
  [
    {
      kind: 'budget.percent',
      threshold: 80n,
      spent_micro: 8_000_000n,
      limit_micro: 10_000_000n,
      details: { budget: 'bud_1', budgetOf: 'tag', subject: 'nightly' },
    },
    'The monthly budget of the tag nightly reached 80%',
    'The monthly budget of the tag nightly reached 80%. $8.00 of $10.00 spent.',
  ],
  [
    {
      kind: 'budget.percent',
      threshold: 100n,
      spent_micro: 9_990_000n,
      limit_micro: 10_000_000n,
      details: { budget: 'bud_1', budgetOf: 'tag', subject: 'nightly' },
    },
    'The monthly budget of the tag nightly refuses calls that cost more than is left',
    'The monthly budget of the tag nightly refuses calls that cost more than is left. $9.99 of $10.00 spent.',
  ],
  [
    { kind: 'key.rotated', details: { by: 'usr_1', replacement: 'key_2' }, ...ofKey },
    'The key ci of Search was rotated by a user',
    'The key ci of Search was rotated by a user.',
  ],
  [
    { kind: 'key.rotated', details: { by: 'key_1', replacement: 'key_2' }, ...ofKey },
    'The key ci of Search rotated itself',
    'The key ci of Search rotated itself.',
    'If this was not your program, revoke its replacement key_2.',
  ],
  [
    { kind: 'key.leaked', details: { location: 'a public page' }, ...ofKey },
    'The secret of the key ci of Search was found in public',
    'The secret of the key ci of Search was found in public. The key was revoked.',
    'Reported at a public page.',
  ],
  [
    { kind: 'key.leaked', details: { replacement: 'key_2' }, ...ofKey },
    'The secret of the key ci of Search was found in public',
    'The secret of the key ci of Search was found in public. The key was rotated before.',
  ],
  [
    { kind: 'token.leaked', details: { location: 'a public page', source: 'content' } },
    'A service token of Search was found in public',
    'A service token of Search was found in public, and was deleted.',
    'Reported at a public page (content).',
  ],
  [
    { kind: 'webhook.failing', details: { webhook: 'whk_1', error: 'not_mailed' } },
    'A destination of the alerts of Search is failing',
    'A destination of the alerts of Search is failing: the mail server did not accept the mail.',
  ],
  [{ kind: 'webhook.test' }, 'Test alert of Search', 'This is a test. Alerts of Search arrive here.'],
])('writes $1', ([part, subject, ...lines]) => {
  expect(noticeText(notice(part))).toEqual({ subject, lines })
})
