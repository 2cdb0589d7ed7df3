import { openLoop } from '../soak/open-loop.ts'
import type { BenchDeps } from '../bench.ts'
import type { Target } from '../report/targets.ts'
import type { Edge } from './edge.ts'

const REQUESTS = 300
const TOKENS = 6_000
const WINDOW_MS = 60_000
const TIMES_TOO_MUCH = 10
const OFF = 0.05

/** Limits of requests and of tokens per minute, at ten times their rate, over three gateways by turns. */
export async function sharedLimits({ fixture, tenant, chat }: Edge, deps: BenchDeps) {
  const { log } = deps
  const now = () => performance.now()
  const keyWith = (rates: object) => fixture.key({ project: tenant.project, by: tenant.owner, rates })
  const load = async (secret: string, perSecond: number) => {
    let n = 0
    const call = async () => ({ status: await chat(secret, n++, { max_tokens: 5 }), retryAfter: true })
    const { ended } = await openLoop({ perSecond, lastsMs: WINDOW_MS - 2_000, call, now })
    const others = [...ended.keys()].filter((status) => status !== 200 && status !== 429)
    if (others.length > 0) throw new Error(`Calls beyond their rate were answered with ${others.join()}.`)
    return { admitted: ended.get(200) ?? 0, refused: ended.get(429) ?? 0 }
  }

  log(`${REQUESTS} requests per minute, at ${TIMES_TOO_MUCH} times that`)
  const limited = await keyWith({ requestsPerMinute: REQUESTS })
  const requests = await load(limited.secret, (REQUESTS / 60) * TIMES_TOO_MUCH)

  const metered = await keyWith({ tokensPerMinute: TOKENS })
  const used = async () => {
    const { rows } = await fixture.run(
      'SELECT coalesce(sum(prompt_tokens + completion_tokens), 0)::int AS tokens, count(*)::int AS calls FROM money.attempts WHERE key = $1',
      [metered.id],
    )
    return rows[0] as { tokens: number; calls: number }
  }
  const perCall = await tokensOfACall({ fixture, tenant, chat })
  log(`${TOKENS} tokens per minute, at ${TIMES_TOO_MUCH} times that; a call takes ${perCall}`)
  await load(metered.secret, (TOKENS / perCall / 60) * TIMES_TOO_MUCH)
  const { tokens, calls } = await used()

  const off = (found: number, wanted: number) => Math.abs(found / wanted - 1)
  const percent = (value: number) => `${(value * 100).toFixed(1)} %`
  return {
    said: `
Three gateways by turns, at ${TIMES_TOO_MUCH} times the limit for a minute: of a limit of ${REQUESTS} requests ${requests.admitted} were admitted and ${requests.refused} refused; of ${TOKENS} tokens ${tokens} were used, by ${calls} calls.`,
    targets: [
      {
        what: 'requests off their limit',
        wanted: OFF,
        found: off(requests.admitted, REQUESTS),
        better: 'less',
        say: percent,
      },
      { what: 'tokens off their limit', wanted: OFF, found: off(tokens, TOKENS), better: 'less', say: percent },
    ] satisfies Target[],
  }
}

async function tokensOfACall({ fixture, tenant, chat }: Pick<Edge, 'fixture' | 'tenant' | 'chat'>): Promise<number> {
  const key = await fixture.key({ project: tenant.project, by: tenant.owner })
  await chat(key.secret)
  for (;;) {
    const { rows } = await fixture.run(
      'SELECT prompt_tokens + completion_tokens AS tokens FROM money.attempts WHERE key = $1',
      [key.id],
    )
    if (rows[0]) return Number(rows[0].tokens)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}
