import type { ChatBody } from '../core/messages-of.ts'
import { Expression, javaScript, sourceText } from './source-text.ts'
import { KEY_NAME } from './shown-code.ts'

/** Code for LangChain in JavaScript. Fields it doesn't name go into `modelKwargs`. @param baseUrl with `/v1` */
export function langChainCode(
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
