import { callerAt } from '../caller.ts'

/**
 * Creates the activity that the screenshots show: calls of several models, a refused call, an execution of a flow, and a
 * call whose prompt and answer are captured. Returns the ID of that call.
 */
export async function makeHistory({
  baseUrl,
  key,
  consoleToken,
  tenant,
  project,
  models,
  sandboxes,
}: Facts): Promise<{ call: string }> {
  const program = callerAt(baseUrl, key)
  const user = callerAt(baseUrl, consoleToken)
  const at = `/api/v2/tenants/${tenant}/projects/${project}`
  const { id } = (await user.ask('GET', '/api/v2/me')).body as { id: string }
  await user.ask('PATCH', at, { capture: { retentionDays: 7, hide: ['email', 'card'], patterns: ['CUST-[0-9]+'] } })
  await user.ask('POST', `${at}/grants`, { user: id, role: 'Project Owner', readsContent: true })
  for (const [n, question] of questions.entries())
    await program.ask('POST', '/v1/chat/completions', {
      model: models[n % models.length],
      messages: [{ role: 'user', content: question }],
      max_tokens: 120,
    })
  const costly = { model: models[0], messages: [{ role: 'user', content: 'A novel' }], max_tokens: 10_000_000 }
  await program.ask('POST', '/v1/chat/completions', costly)
  await user.ask('POST', `/api/v2/tenants/${tenant}/sandboxes/${sandboxes.mixed}/execute`, {
    input: { topic: 'the sea', tone: 'dry' },
  })
  const captured = await program.ask('POST', '/v1/chat/completions', {
    model: models[0],
    messages: [
      { role: 'system', content: 'You answer customers of a parcel service. Be brief.' },
      { role: 'user', content: 'Where is the parcel of CUST-0042? Write to ada@example.com.' },
    ],
    max_tokens: 120,
    stream: true,
  })
  return { call: captured.headers.get('x-service-invocation')! }
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
