import { createHash, randomBytes } from 'node:crypto'
import { expect } from 'vitest'
import { answerOf, callerOf, consoleTest as test, outcomeOf, uniqueAddress } from '../console.fixture.ts'

const PASSWORD = 'correct horse battery'
const UNKNOWN = '400 invalid_request'

/** Verifier a program keeps secret, and the challenge it sends. */
function asking() {
  const verifier = randomBytes(32).toString('base64url')
  return { verifier, challenge: createHash('sha256').update(verifier).digest('base64url') }
}

const codes = test
  .extend('redeem', ({ console }) =>
    async (body: object) => {
      const headers = { 'Content-Type': 'application/json', 'X-Forwarded-For': uniqueAddress() }
      return answerOf(
        await fetch(`${console.url}/api/v2/session/tokens`, { method: 'POST', headers, body: JSON.stringify(body) }),
      )
    })
  .extend('user', ({ signIn }) => signIn({ by: 'session' }))
  /** A sign-in code of the user and its verifier. */
  .extend('confirmed', async ({ user }) => {
    const { verifier, challenge } = asking()
    const answer = await user.post('/api/v2/me/sign-in-codes', { name: 'gateway on laptop', challenge })
    expect(outcomeOf(answer)).toBe('201')
    return { code: answer.body.code as string, verifier }
  })

codes(
  'a program gets a token its user confirmed, which the user can list and delete like any other',
  async ({ console, user, confirmed, redeem }) => {
    const { body } = await redeem(confirmed)
    expect(body.token).toMatchObject({ name: 'gateway on laptop', expiresAt: expect.any(String) as string })
    const days = (Date.parse(body.token.expiresAt) - Date.parse(body.token.createdAt)) / 86_400_000
    expect(days).toBe(90)
    expect((await callerOf(console.url, '', body.secret).get('/api/v2/me')).body.id).toBe(user.id)
    const listed = await user.get('/api/v2/me/tokens')
    expect(listed.body.data.map(({ id }: { id: string }) => id)).toContain(body.token.id)
    expect(outcomeOf(await user.delete(`/api/v2/me/tokens/${body.token.id}`))).toBe('204')
    expect(outcomeOf(await callerOf(console.url, '', body.secret).get('/api/v2/me'))).toBe('401 token_invalid')
  },
)

codes('a code can be redeemed once, even by concurrent requests', async ({ user, confirmed, redeem }) => {
  const answers = await Promise.all(Array.from({ length: 10 }, () => redeem(confirmed)))
  expect(answers.map(outcomeOf).toSorted()).toEqual(['201', ...Array.from({ length: 9 }, () => UNKNOWN)])
  const { data } = (await user.get('/api/v2/me/tokens')).body as { data: { name: string }[] }
  expect(data.filter(({ name }) => name === 'gateway on laptop')).toHaveLength(1)
  expect(outcomeOf(await redeem(confirmed))).toBe(UNKNOWN)
})

codes(
  'a code is useless without its verifier, and failed attempts do not invalidate it [invalid_request]',
  async ({ confirmed, redeem }) => {
    const { code, verifier } = confirmed
    const { challenge } = asking()
    const unknown = { code: asking().verifier, verifier }
    for (const body of [{ code, verifier: asking().verifier }, { code, verifier: challenge }, unknown])
      expect(outcomeOf(await redeem(body))).toBe(UNKNOWN)
    for (const body of [{ code }, { code, verifier: '' }, { code: `${code}.`, verifier }, { code, verifier, x: 1 }])
      expect(outcomeOf(await redeem(body))).toBe(UNKNOWN)
    expect(outcomeOf(await redeem(confirmed))).toBe('201')
  },
)

codes(
  'an expired code is refused, and deleted when the user confirms the next one [invalid_request]',
  async ({ fixture, user, confirmed, redeem }) => {
    await fixture.run(`UPDATE control.sign_in_codes SET expires_at = now() - interval '1 ms' WHERE user_id = $1`, [
      user.id,
    ])
    const refused = await redeem(confirmed)
    expect(outcomeOf(refused)).toBe(UNKNOWN)
    expect(refused.body.error.resolution).toContain('gateway login')
    await user.post('/api/v2/me/sign-in-codes', { name: 'next', challenge: asking().challenge })
    const kept = await fixture.run(`SELECT name FROM control.sign_in_codes WHERE user_id = $1`, [user.id])
    expect(kept.rows).toEqual([{ name: 'next' }])
  },
)

codes('changing the password invalidates codes confirmed before', async ({ user, confirmed, redeem }) => {
  expect(outcomeOf(await user.put('/api/v2/me/password', { password: PASSWORD }))).toBe('204')
  expect(outcomeOf(await redeem(confirmed))).toBe(UNKNOWN)
})

codes(
  'only a session can confirm a code, not a token of a program or a user [session_required]',
  async ({ console, stack }) => {
    const made = await stack.owner.post(`${stack.path}/tokens`, { name: 'CI', permissions: ['audit.read'] })
    const program = callerOf(console.url, '', made.body.secret)
    const { challenge } = asking()
    const refused = await program.post('/api/v2/me/sign-in-codes', { name: 'x', challenge })
    expect(outcomeOf(refused)).toBe('403 session_required')
    const byToken = await stack.owner.post('/api/v2/me/sign-in-codes', { name: 'x', challenge })
    expect(outcomeOf(byToken)).toBe('403 session_required')
    const anonymous = callerOf(console.url, '', 'svu_none')
    expect(outcomeOf(await anonymous.post('/api/v2/me/sign-in-codes', { name: 'x', challenge }))).toBe(
      '401 token_invalid',
    )
  },
)

codes('limits an address to 50 code redemptions [rate_limited]', async ({ console }) => {
  const headers = { 'Content-Type': 'application/json', 'X-Forwarded-For': uniqueAddress() }
  const body = JSON.stringify({ code: asking().verifier, verifier: asking().verifier })
  const outcomes: string[] = []
  for (let tried = 0; tried < 51; tried += 1)
    outcomes.push(
      outcomeOf(await answerOf(await fetch(`${console.url}/api/v2/session/tokens`, { method: 'POST', headers, body }))),
    )
  expect(outcomes).toEqual([...Array.from({ length: 50 }, () => UNKNOWN), '429 rate_limited'])
})
