import type { Stack } from './stack.ts'

/**
 * What the provider's answer to a prompt uses, in tokens: the same at any time. Asked like the latest call that it has logged, of which
 * it keeps the body.
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
