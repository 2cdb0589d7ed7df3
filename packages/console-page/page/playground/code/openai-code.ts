import type { ChatBody } from '../core/messages-of.ts'
import { javaScript, python, sourceText } from './source-text.ts'
import { KEY_NAME } from './shown-code.ts'

/** Code for the OpenAI client in JavaScript. @param baseUrl with `/v1` */
export function openAiJavaScriptCode(baseUrl: string, body: ChatBody): string {
  return `import OpenAI from 'openai'

const client = new OpenAI({
  baseURL: ${sourceText(baseUrl, javaScript)},
  apiKey: process.env.${KEY_NAME},
})

const stream = await client.chat.completions.create(${sourceText(body, javaScript)})
for await (const chunk of stream) {
  process.stdout.write(chunk.choices[0]?.delta.content ?? '')
  if (chunk.usage) console.error(chunk.usage)
}
`
}

/** Code for the OpenAI client in Python. @param baseUrl with `/v1` */
export function openAiPythonCode(baseUrl: string, body: ChatBody): string {
  const parameters = Object.entries(body).filter(([, value]) => value !== undefined)
  return `import os
import sys

from openai import OpenAI

client = OpenAI(
    base_url=${sourceText(baseUrl, python)},
    api_key=os.environ["${KEY_NAME}"],
)

stream = client.chat.completions.create(
${parameters.map(([name, value]) => `    ${name}=${sourceText(value, python, 1)},\n`).join('')})
for chunk in stream:
    if chunk.choices:
        print(chunk.choices[0].delta.content or "", end="", flush=True)
    if chunk.usage:
        print(chunk.usage, file=sys.stderr)
`
}
