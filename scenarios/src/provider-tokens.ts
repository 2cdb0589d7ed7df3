import type { Stack } from './stack.ts'

/**
 * Returns a function that asks the provider for the token usage of a prompt, which is deterministic. The request copies the latest logged
 * call that has a body.
 */
export async function openTokensOf({ provider, providerKey }: Stack): Promise<(prompt: string) => Promise<number>> {
  const calls = await provider.control.calls()
  const { path, body } = calls.findLast((call) => call.body !== null)!
  return async (prompt) => {
    const answer = await fetch(provider.url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${providerKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ...(JSON.parse(body!) as object), messages: [{ role: 'user', content: prompt }] }),
    })
    const text = await answer.text()
    if (answer.status !== 200) throw new Error(`${answer.status} ${text}`)
    const { usage } = JSON.parse(text) as { usage: { prompt_tokens: number; completion_tokens: number } }
    return usage.prompt_tokens + usage.completion_tokens
  }
}
