/** Shell command for a first call. Escapes any model name. */
export function firstCall(baseUrl: string, secret: string, model: string | undefined): string {
  const key = `-H ${quoted(`Authorization: Bearer ${secret}`)}`
  if (model === undefined) return [`curl ${quoted(`${baseUrl}/v1/models`)}`, key].join(' \\\n  ')
  const body = { model, messages: [{ role: 'user', content: 'Say hello.' }] }
  return [
    `curl ${quoted(`${baseUrl}/v1/chat/completions`)}`,
    key,
    `-H 'Content-Type: application/json'`,
    `-d ${quoted(JSON.stringify(body))}`,
  ].join(' \\\n  ')
}

/** Python code for a first call with the OpenAI library. */
export function firstCallInPython(baseUrl: string, secret: string, model: string | undefined): string {
  const text = (value: string) => JSON.stringify(value)
  return `from openai import OpenAI

client = OpenAI(base_url=${text(`${baseUrl}/v1`)}, api_key=${text(secret)})
answer = client.chat.completions.create(
    model=${text(model ?? 'MODEL')},
    messages=[{"role": "user", "content": "Say hello."}],
)
print(answer.choices[0].message.content)`
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}
