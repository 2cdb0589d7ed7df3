import { createHash, randomBytes } from 'node:crypto'
import type { CallTiming } from '@gateway/api/chat-answer'
import { mintId } from '@gateway/api/ids'
import { openLedgerClient } from '@gateway/ledger-client/ledger-client'
import type { Fixture } from '@gateway/testbed/fixture'
import { consoleTest, type Caller } from '../console.fixture.ts'

const newId = <P extends string>(prefix: P) => mintId(prefix, Date.now(), randomBytes(10))

/** Test with a funded project, a key and calls. */
export const callsTest = consoleTest
  /** Makes calls the way a gateway does. */
  .extend('calls', { scope: 'file' }, async ({ ledger, services }, { onCleanup }) => {
    const client = openLedgerClient({ url: ledger.url, service: 'gateway', privateKey: services.secrets.gateway })
    onCleanup(client.close)
    let instance = newId('ins')
    const register = () => client.heartbeat({ instance, service: 'gateway', deadAfterMs: 60_000 })
    await register()
    const budget = { budgetMs: 10_000 }
    return {
      /** Makes further calls from another instance. */
      async changeInstance() {
        instance = newId('ins')
        await register()
      },
      async admit(secret: string, model: string, idempotency: { key: string; fingerprint: string } | null = null) {
        const keyHash = createHash('sha256').update(secret).digest('hex')
        const promptSize = { bytes: 100, messages: 1, tools: 0, images: 0, counted: null, maxTokens: 100 }
        const id = newId('inv')
        const item = { id, instance, keyHash, selector: null, model, parameters: [], promptSize, idempotency }
        return { id, outcome: await client.admit(item, budget) }
      },
      settle: (id: string, tokens = { promptTokens: 10, completionTokens: 20 }, timing?: CallTiming) => {
        const usage = { ...tokens, estimated: false }
        return client.settle({ id, usage, answer: null, ...(timing && { timing }) }, budget)
      },
      release: (id: string) => client.release({ id, reason: 'the provider failed' }, budget),
    }
  })
  .extend('tenant', ({ stack, fixture, signIn }) => openSpender({ stack, fixture, signIn }))

interface Spender {
  stack: { owner: Caller; path: string; projectPath: string; project: string }
  fixture: Pick<Fixture, 'product'>
  signIn: (who: { platformOperator: boolean }) => Promise<Caller>
}

/** Funds a project, and gives it a model and a key. */
export async function openSpender({ stack, fixture, signIn }: Spender) {
  const operator = await signIn({ platformOperator: true })
  const model = await fixture.product({ promptPico: 1_000_000n, completionPico: 2_000_000n })
  await stack.owner.put(`${stack.projectPath}/assignments/${encodeURIComponent(model)}`)
  await operator.post(`${stack.projectPath}/wallet/fundings`, { fundingId: 'first', micro: 1_000_000 })
  const { key, secret } = (await stack.owner.post(`${stack.path}/keys`, { project: stack.project })).body
  return { operator, model, key: key.id as string, secret: secret as string }
}
