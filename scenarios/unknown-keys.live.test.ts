import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect } from 'vitest'
import { KEY_SECRET_PREFIX, makeSecret, USER_TOKEN_PREFIX } from '@gateway/api/ids'
import { liveTest } from '@gateway/testbed/live-test'
import { privatePostgres } from '@gateway/testbed/private-servers'
import { callerAt, said, type Answer } from './src/caller.ts'
import { openLiveStack, type Stack } from './src/stack.ts'
import { imprint } from './src/isolation/request-of.ts'
import { idsOfNothing } from './src/isolation/isolation-fixture.ts'
import { logEveryStatement } from './src/stored-bytes.ts'

/* oxlint-disable no-empty-pattern -- vitest reads from the pattern what a fixture needs, and an empty one is required for nothing */

// Garbage is refused without a lookup, and a caller who tries keys learns nothing from the refusals (architecture §S1, §S3).

const test = liveTest
  .extend('postgres', { scope: 'file' }, async ({}, { onCleanup }) => {
    const postgres = await privatePostgres() // the test reads its log
    onCleanup(postgres.stop)
    return postgres
  })
  .extend('stack', { scope: 'file' }, async ({ postgres, redis }, { onCleanup }) => {
    const stack = await openLiveStack({ ...postgres, redisUrl: redis.url })
    onCleanup(stack.close)
    return stack
  })
  /** Number of credential lookups in Postgres so far, in all and by batches of calls. */
  .extend('lookUps', { scope: 'file' }, async ({ postgres }) => {
    await logEveryStatement(postgres)
    return async () => {
      const entries = (await postgres.log()).split(ENTRY)
      const batches = entries.filter((entry) => BATCH_OF_CALLS.test(entry)).length
      return { all: batches + entries.filter((entry) => LOOK_UP.test(entry)).length, batches }
    }
  })

/** Boundary before each statement in the server log. A statement may span lines and is followed by its parameters. */
const ENTRY = /\n(?=\d{4}-\d\d-\d\d [^\n]*LOG: )/
const LOOK_UP =
  /^[^\n]*LOG: +(?:execute|statement)[^]*(?:money\.(?:callers|check_admission)|"control"\."(?:keys|user_tokens)")/
/** A ledger also sends batches without callers: health checks and closings. */
const BATCH_OF_CALLS = /money\.run_batch\([^]*callers => \$2[^]*\$2 = '\{[^}]/

const url = ({ gateways }: Stack) => gateways[0]!.url
const newKey = () => makeSecret(KEY_SECRET_PREFIX, randomBytes(32))
const newToken = () => makeSecret(USER_TOKEN_PREFIX, randomBytes(32))

/** Every path that reads a key. */
const keyPaths: [method: string, path: string, body?: object][] = [
  ['GET', '/v1/models'],
  ['GET', '/v1/models/acme/none'],
  ['GET', '/v1/key'],
  ['GET', '/v1/invocations/inv_none'],
  ['POST', '/v1/key/check', { model: 'acme/none' }],
  ['POST', '/v1/chat/completions', { model: 'acme/none', messages: [{ role: 'user', content: 'Hello' }] }],
  ['POST', '/api/v2/tenants/ten_none/keys/key_none/rotate', {}],
]

/** Secrets recognizable as invalid without a lookup: garbage, another prefix, or a real key with one wrong character. */
function garbage(real: string): fc.Arbitrary<string> {
  const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'.split('')
  const mistyped = fc
    .tuple(fc.integer({ min: 4, max: real.length - 1 }), fc.constantFrom(...base62))
    .filter(([at, character]) => real[at] !== character)
    .map(([at, character]) => real.slice(0, at) + character + real.slice(at + 1))
  const cut = fc.integer({ min: 1, max: real.length - 1 }).map((length) => real.slice(0, length))
  const random = fc
    .array(fc.constantFrom(...base62), { minLength: 49, maxLength: 49 })
    .map((all) => `svc_${all.join('')}`)
  return fc.oneof(
    mistyped,
    cut,
    random.filter((text) => text.slice(4, 12) !== real.slice(4, 12)),
    fc.stringMatching(/^[!-~]{1,100}$/),
    fc.constantFrom(
      `${real}0`,
      `${real}.`,
      real.toUpperCase(),
      real.replace('svc_', 'sk-'),
      real.replace('svc_', 'svu_'),
    ),
  )
}

describe('a key with a wrong checksum', () => {
  test('is refused on every path without a lookup [key_invalid]', async ({ stack, lookUps }) => {
    const tenant = await stack.tenant(1_000n)
    const before = await lookUps()
    await fc.assert(
      fc.asyncProperty(
        garbage(tenant.key.secret),
        fc.constantFrom(...keyPaths),
        async (secret, [method, path, body]) => {
          const answer = await callerAt(url(stack), secret).ask(method, path, body)
          expect(said(answer)).toMatch(/^401 (?:key_invalid|token_invalid|session_missing)$/)
        },
      ),
      { numRuns: 250 },
    )
    expect(await lookUps()).toEqual(before)
  })

  test('costs a forged key with a valid checksum one lookup and no admission', async ({ stack, lookUps }) => {
    for (const [method, path, body] of keyPaths) {
      const before = await lookUps()
      await callerAt(url(stack), newKey()).ask(method, path, body)
      const after = await lookUps()
      const asked = { all: after.all - before.all, batches: after.batches - before.batches }
      expect([path, asked]).toEqual([path, { all: 1, batches: 0 }])
    }
  })

  test('needs no lookup for a user token either [token_invalid]', async ({ stack, lookUps }) => {
    const { secret } = await stack.fixture.token(await stack.fixture.user())
    const before = await lookUps()
    for (const at of [4, 20, 50])
      for (const character of ['0', 'z']) {
        const wrong = secret.slice(0, at) + character + secret.slice(at + 1)
        if (wrong !== secret)
          expect(said(await callerAt(url(stack), wrong).ask('GET', '/api/v2/me'))).toBe('401 token_invalid')
      }
    expect(await lookUps()).toEqual(before)
    expect(said(await callerAt(url(stack), secret).ask('GET', '/api/v2/me'))).toBe('200')
    expect((await lookUps()).all).toBe(before.all + 1)
  })
})

test('unknown, malformed and foreign keys get byte-identical responses [key_invalid]', async ({ stack }) => {
  const tenant = await stack.tenant(1_000n)
  const wrong = {
    malformed: 'svc_short',
    'with a wrong checksum': `${tenant.key.secret.slice(0, -1)}${tenant.key.secret.endsWith('0') ? '1' : '0'}`,
    unknown: newKey(),
    'of another service': 'sk-proj-0123456789abcdef',
    'of another deployment': newKey(),
    'a user’s': newToken(),
    'a living user’s': (await stack.fixture.token(tenant.owner)).secret,
  }
  const nothing = idsOfNothing(stack.fixture)
  for (const [method, path, body] of keyPaths.slice(0, -1)) {
    const answers = await Promise.all(
      Object.values(wrong).map((secret) => callerAt(url(stack), secret).ask(method, path, body)),
    )
    expect([path, new Set(answers.map(said))]).toEqual([path, new Set(['401 key_invalid'])])
    expect(new Set(answers.map((answer) => imprint(answer, nothing))).size).toBe(1)
  }
})

test('a caller trying to rotate another’s key learns nothing about it [key_invalid]', async ({ stack }) => {
  const tenant = await stack.tenant(1_000n)
  const { tenant: tenantId } = tenant.project
  const answers: Answer[] = []
  for (const at of [`${tenantId}/keys/${tenant.key.id}`, `${tenantId}/keys/key_none`, 'ten_none/keys/key_none'])
    for (const secret of ['svc_short', newKey()])
      answers.push(await callerAt(url(stack), secret).ask('POST', `/api/v2/tenants/${at}/rotate`, {}))
  expect(new Set(answers.map(said))).toEqual(new Set(['401 key_invalid']))
  expect(new Set(answers.map((answer) => imprint(answer, idsOfNothing(stack.fixture)))).size).toBe(1)
})
