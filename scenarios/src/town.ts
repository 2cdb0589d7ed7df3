import { expect } from 'vitest'
import { refusals } from '@gateway/contracts/refusals'
import type { WorldKey } from '@gateway/testbed/world'
import { answerOf, callerAt, refusalIn, said, type Answer } from './caller.ts'
import { chat, type House, type Shop } from './house.ts'

export type Town = Awaited<ReturnType<typeof openTown>>

/** A shop, whoever may change something in it, and what the stories are told in. */
export async function openTown(house: House, way: RegExp, code: keyof typeof refusals) {
  const { world } = house
  const url = house.gateways[0]!.url
  const shop: Shop = await house.shop(1_000_000n)
  const { project, owner } = shop
  const tenant = `/api/v2/tenants/${project.tenant}`
  const as = async (person: string) => callerAt(url, (await world.token(person)).secret)
  const admin = await world.person()
  await world.run(`INSERT INTO control.memberships (tenant, person, role) VALUES ($1, $2, 'Admin')`, [
    project.tenant,
    admin,
  ])
  const keyOf = (secret: string): WorldKey => ({ ...shop.key, secret })
  const call = async (key: WorldKey = shop.key, more: Parameters<typeof chat>[2] & { model?: string } = {}) =>
    answerOf(await chat(house, { key, model: more.model ?? shop.model }, more))
  return {
    house,
    world,
    shop,
    tenant,
    projectPath: `${tenant}/projects/${project.id}`,
    people: {
      admin: await as(admin),
      owner: await as(owner),
      operator: await as(await world.person({ platformOperator: true })),
    },
    as,
    call,
    keyOf,
    /** Issues a key by the API, and answers it. */
    async issue(body: object = {}, by = owner): Promise<WorldKey> {
      const answer = await (await as(by)).ask('POST', `${tenant}/keys`, { project: project.id, ...body })
      expect(said(answer)).toBe('201')
      return {
        ...keyOf((answer.body as { secret: string }).secret),
        id: (answer.body as { key: { id: string } }).key.id,
      }
    },
    /** A published product that nothing is assigned to. */
    sell: (options: Parameters<typeof world.product>[0] = {}) =>
      world.product({ promptPico: 1_000_000n, completionPico: 1_000_000n, ...options }),
    /** It is refused with the code that the story is about, and names the way that the story goes. */
    refused(answer: Answer) {
      expect(said(answer)).toBe(`${refusals[code].status} ${code}`)
      const refusal = refusalIn(answer)!
      expect(refusal.resolution).toMatch(way)
      return refusal
    },
    succeeds(answer: Answer) {
      expect([200, 201, 204]).toContain(answer.status)
      return answer
    },
  }
}
