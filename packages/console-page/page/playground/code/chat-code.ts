import type { ChatBody, ChatMessage } from '../core/conversation.ts'
import { curlCode, Expression, javaScript, sourceText, python, KEY_NAME, type ShownCode } from './source-text.ts'

/** Code samples for a chat request. @param baseUrl gateway URL without `/v1` */
export function chatCode(baseUrl: string, body: ChatBody): ShownCode[] {
  const v1 = `${baseUrl.replace(/\/+$/, '')}/v1`
  return [
    { title: 'curl', install: null, text: curlCode(`${v1}/chat/completions`, body, { isStream: true }) },
    { title: 'openai for JavaScript', install: 'npm install openai', text: openAiJavaScriptCode(v1, body) },
    { title: 'openai for Python', install: 'pip install openai', text: openAiPythonCode(v1, body) },
    {
      title: 'Vercel AI SDK',
      install: 'npm install ai @ai-sdk/openai-compatible',
      text: aiSdkCode(v1, body),
    },
    { title: 'LangChain', install: 'npm install @langchain/openai @langchain/core', text: langChainCode(v1, body) },
  ]
}

/** Code for LangChain in JavaScript. Fields it doesn't name go into `modelKwargs`. @param baseUrl with `/v1` */
function langChainCode(
  baseUrl: string,
  { model, messages, stream: _, stream_options: __, ...parameters }: ChatBody,
): string {
  const { max_tokens: maxTokens, temperature, top_p: topP, verbosity, ...others } = parameters
  const options = {
    model,
    apiKey: new Expression(`process.env.${KEY_NAME}`),
    configuration: { baseURL: baseUrl },
    maxTokens,
    temperature,
    topP,
    verbosity,
    modelKwargs: Object.keys(others).length > 0 ? others : undefined,
  }
  return `import { ChatOpenAI } from '@langchain/openai'

const model = new ChatOpenAI(${sourceText(options, javaScript)})

const stream = await model.stream(${sourceText(messages.map(withText), javaScript)})
for await (const chunk of stream) {
  process.stdout.write(chunk.text)
  if (chunk.usage_metadata) console.error(chunk.usage_metadata)
}
`
}

/** Message with empty text instead of null content, which LangChain turns into an empty list. */
function withText(message: ChatBody['messages'][number]): object {
  return { ...message, content: message.content ?? '' }
}

/** Code for the OpenAI client in JavaScript. @param baseUrl with `/v1` */
function openAiJavaScriptCode(baseUrl: string, body: ChatBody): string {
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
function openAiPythonCode(baseUrl: string, body: ChatBody): string {
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

interface Tool {
  function?: { name?: string; description?: string; parameters?: object }
}

/** Code for the Vercel AI SDK, which renames many request fields. @param baseUrl with `/v1` */
function aiSdkCode(baseUrl: string, body: ChatBody): string {
  const tools = body.tools as Tool[] | undefined
  const { system, messages } = aiSdkMessages(body.messages)
  const request = {
    model: new Expression(`gateway.chatModel(${sourceText(body.model, javaScript)})`),
    system,
    messages,
    maxOutputTokens: body.max_tokens,
    temperature: body.temperature,
    topP: body.top_p,
    seed: body.seed,
    frequencyPenalty: body.frequency_penalty,
    presencePenalty: body.presence_penalty,
    stopSequences: typeof body.stop === 'string' ? [body.stop] : body.stop,
    tools: tools && Object.fromEntries(tools.map((tool) => [tool.function?.name ?? '', toolOf(tool)])),
    toolChoice: toolChoiceOf(body.tool_choice),
    providerOptions: ownOptions(body),
  }
  return `import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { ${tools ? 'jsonSchema, streamText, tool' : 'streamText'} } from 'ai'

const gateway = createOpenAICompatible({
  name: 'gateway',
  baseURL: ${sourceText(baseUrl, javaScript)},
  apiKey: process.env.${KEY_NAME},
  includeUsage: true,
})

const { textStream, usage } = streamText(${sourceText(request, javaScript)})
for await (const text of textStream) process.stdout.write(text)
console.error(await usage)
`
}

function toolOf({ function: called }: Tool): Expression {
  const schema = sourceText(called?.parameters ?? { type: 'object', properties: {} }, javaScript, 3)
  const described = sourceText(
    { description: called?.description, inputSchema: new Expression(`jsonSchema(${schema})`) },
    javaScript,
    2,
  )
  return new Expression(`tool(${described})`)
}

function toolChoiceOf(choice: unknown): unknown {
  const name = (choice as { function?: { name?: string } } | undefined)?.function?.name
  return name === undefined ? choice : { type: 'tool', toolName: name }
}

/** Options that the SDK forwards under the provider's name. */
function ownOptions(body: ChatBody): object | undefined {
  const { reasoning_effort: reasoningEffort, verbosity: textVerbosity, response_format } = body
  const gateway = Object.entries({ reasoningEffort, textVerbosity, response_format }).filter(
    ([, value]) => value !== undefined,
  )
  return gateway.length > 0 ? { gateway: Object.fromEntries(gateway) } : undefined
}

interface Part {
  type: string
  text?: string
  image_url?: { url: string }
}
interface Call {
  id: string
  function: { name: string; arguments: string }
}

/** Messages in the format of the Vercel AI SDK. */
function aiSdkMessages(messages: readonly ChatMessage[]): { system: string | undefined; messages: object[] } {
  const names = new Map<string, string>()
  const system = messages.find(({ role }) => role === 'system')?.content as string | undefined
  const others = messages.filter(({ role }) => role !== 'system')
  return { system, messages: others.map((message) => messageOf(message, names)) }
}

/** @param names tool names by call ID; tool results contain the ID only */
function messageOf(message: ChatMessage, names: Map<string, string>): object {
  const { role, content } = message
  if (role === 'tool') {
    const { tool_call_id: toolCallId } = message as { tool_call_id: string }
    const output = { type: 'text', value: content }
    return { role, content: [{ type: 'tool-result', toolCallId, toolName: names.get(toolCallId), output }] }
  }
  const calls = ('tool_calls' in message ? (message.tool_calls as Call[] | undefined) : undefined) ?? []
  if (calls.length === 0) return { role, content: Array.isArray(content) ? (content as Part[]).map(partOf) : content }
  for (const { id, function: called } of calls) names.set(id, called.name)
  const text = content ? [{ type: 'text', text: content }] : []
  return { role, content: [...text, ...calls.map(callOf)] }
}

function partOf({ type, text, image_url: image }: Part): object {
  if (type !== 'image_url' || !image) return { type, text }
  const [, mediaType = 'image'] = /^data:([^;]+);/.exec(image.url) ?? []
  return { type: 'file', mediaType, data: image.url }
}

function callOf({ id, function: { name, arguments: given } }: Call): object {
  return { type: 'tool-call', toolCallId: id, toolName: name, input: parsed(given) }
}

/** Parsed arguments, or the text itself if the model wrote invalid JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return text
  }
}
