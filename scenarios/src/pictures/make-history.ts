import { callerAt } from '../caller.ts'

/** Creates the activity that the screenshots show: calls of several models, a refused call, and an execution of a flow. */
export async function makeHistory({ baseUrl, key, consoleToken, tenant, models, sandboxes }: Facts): Promise<void> {
  const program = callerAt(baseUrl, key)
  for (const [n, question] of questions.entries())
    await program.ask('POST', '/v1/chat/completions', {
      model: models[n % models.length],
      messages: [{ role: 'user', content: question }],
      max_tokens: 120,
    })
  const costly = { model: models[0], messages: [{ role: 'user', content: 'A novel' }], max_tokens: 10_000_000 }
  await program.ask('POST', '/v1/chat/completions', costly)
  const user = callerAt(baseUrl, consoleToken)
  await user.ask('POST', `/api/v2/tenants/${tenant}/sandboxes/${sandboxes.mixed}/execute`, {
    input: { topic: 'the sea', tone: 'dry' },
  })
}

export interface Facts {
  baseUrl: string
  key: string
  consoleToken: string
  tenant: string
  project: string
  models: string[]
  sandboxes: { mixed: string; chat: string }
}

const questions = [
  'Say hello in one sentence.',
  'What is a wallet?',
  'Name three rivers.',
  'Why is the sky blue?',
  'Count to ten.',
  'Translate "thank you" into five languages.',
  'Write a haiku about queues.',
  'What does idempotent mean?',
  'How far is the moon?',
  'Name a prime above one hundred.',
]
