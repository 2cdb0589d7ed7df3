import { randomUUID } from 'node:crypto'
import type { SeededStack } from '@gateway/testbed/seeded-stack'
import { callerAt, type Answer } from '../caller.ts'

const FUNDS_MICRO = 10_000_000

/** Variables for a new project with $10, every seeded product and a key: the prerequisites of a guide. */
export async function openGuideProject(stack: SeededStack): Promise<Record<string, string>> {
  const user = callerAt(stack.baseUrl, stack.consoleToken)
  const tenant = `/api/v2/tenants/${stack.tenant}`
  const made = async (answer: Promise<Answer>) => {
    const { status, text, body } = await answer
    if (status >= 300) throw new Error(`Creating the guide project failed: ${status} ${text}`)
    return body
  }
  const { id: project } = await made(user.ask('POST', `${tenant}/projects`, { name: `Guide ${randomUUID()}` }))
  const funding = { fundingId: randomUUID(), micro: FUNDS_MICRO }
  await made(user.ask('POST', `${tenant}/projects/${project}/wallet/fundings`, funding))
  for (const product of [...stack.models, ...Object.values(stack.media)])
    await made(user.ask('PUT', `${tenant}/projects/${project}/assignments/${encodeURIComponent(product)}`, undefined))
  const { secret } = await made(user.ask('POST', `${tenant}/keys`, { project, name: 'A guide' }))
  return {
    GATEWAY_URL: stack.baseUrl,
    GATEWAY_EMAIL: stack.email,
    GATEWAY_PASSWORD: stack.password,
    GATEWAY_TENANT: stack.tenant,
    GATEWAY_PROJECT: project,
    GATEWAY_TOKEN: stack.consoleToken,
    GATEWAY_KEY: secret,
  }
}
