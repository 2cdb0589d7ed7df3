import { setTimeout as wait } from 'node:timers/promises'
import type { CallableTenant, Fixture } from '@gateway/testbed/fixture'
import { ms } from '../report/table.ts'
import type { Target } from '../report/targets.ts'

const EVERY_MS = 250
const WANTED_MS = 1_000

/** Repeats a measurement for this time. Returns its results. */
export async function repeatFor(lastsMs: number, measure: () => Promise<number>): Promise<number[]> {
  const tookMs: number[] = []
  for (const endMs = performance.now() + lastsMs; performance.now() < endMs; await wait(EVERY_MS))
    tookMs.push(await measure())
  return tookMs
}

/**
 * Returns what makes a key and revokes it, and measures how long the revocation takes. Milliseconds.
 * @param gatewayUrl of a gateway with a console
 */
export async function openRevocations(
  gatewayUrl: string,
  fixture: Fixture,
  { project, owner }: Pick<CallableTenant, 'project' | 'owner'>,
): Promise<() => Promise<number>> {
  const { secret } = await fixture.token(owner)
  const keys = `${gatewayUrl}/api/v2/tenants/${project.tenant}/keys`
  return async () => {
    const { id } = await fixture.key({ project, by: owner })
    const startMs = performance.now()
    const answer = await fetch(`${keys}/${id}/revoke`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}` },
    })
    if (answer.status !== 200) throw new Error(`A revocation was answered with ${answer.status}.`)
    await answer.arrayBuffer()
    return performance.now() - startMs
  }
}

export const revocationTarget = (meanwhile: string, tookMs: number[]): Target => ({
  what: `slowest revocation of a key, ${meanwhile}`,
  wanted: WANTED_MS,
  found: Math.max(...tookMs),
  better: 'less',
  say: ms,
})
