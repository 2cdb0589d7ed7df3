import type { ChatBody } from '../core/messages-of.ts'
import { aiSdkMessages } from './ai-sdk-messages.ts'
import { Expression, javaScript, sourceText } from './source-text.ts'
import { KEY_NAME } from './shown-code.ts'

interface Tool {
  function?: { name?: string; description?: string; parameters?: object }
}

/** Code for the Vercel AI SDK, which renames many request fields. @param baseUrl with `/v1` */
export function aiSdkCode(baseUrl: string, body: ChatBody): string {
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
