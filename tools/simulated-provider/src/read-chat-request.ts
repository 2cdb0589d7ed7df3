/** The fields of a chat request that the simulated provider reads; it accepts and ignores all others. */
export interface ChatRequest {
  model: string
  /** All texts of all messages, joined by line feeds. */
  prompt: string
  lastUserText: string
  promptTokens: number
  stream: boolean
  includeUsage: boolean
  outputCap: number
  seed: string
  stop: string[]
  /** The tool that this response has to call, or null. */
  tool: { name: string; parameters: unknown } | null
  /** The schema for the JSON of the response; `{}` for JSON mode; null for text. */
  json: unknown
}

type Fields = Record<string, unknown>

const defaultOutputCap = 1024
export const tokensPerImage = 85
export const tokensPerFile = 1_500

/** Throws an error that states what is wrong with the request. */
export function readChatRequest(body: Fields): ChatRequest {
  const { model, messages } = body
  if (typeof model !== 'string' || model === '') throw new Error('you must provide a model parameter')
  if (!Array.isArray(messages) || messages.length === 0) throw new Error('messages must not be empty')
  const read = readMessages(messages)
  const cap = body['max_completion_tokens'] ?? body['max_tokens']
  return {
    model,
    ...read,
    stream: body['stream'] === true,
    includeUsage: fieldsOf(body['stream_options'])['include_usage'] === true,
    outputCap: typeof cap === 'number' && cap > 0 ? cap : defaultOutputCap,
    seed: JSON.stringify(body['seed'] ?? null),
    stop: [body['stop'] ?? []].flat().map(String),
    tool: messages.some((message) => fieldsOf(message)['role'] === 'tool') ? null : toolToCall(body),
    json: wantedJson(fieldsOf(body['response_format'])),
  }
}

/**
 * Tokens: a quarter of the characters, plus four per message. Never more than the UTF-8 bytes of the compact JSON
 * of the messages, which has at least 16 bytes around each message's text. A file is 1,500 tokens.
 */
function readMessages(messages: unknown[]): Pick<ChatRequest, 'prompt' | 'lastUserText' | 'promptTokens'> {
  const texts: string[] = []
  let lastUserText = ''
  let mediaTokens = 0
  for (const message of messages.map(fieldsOf)) {
    for (const part of [message['content'] ?? []].flat()) {
      const { text = part, image_url: image, file } = fieldsOf(part)
      if (typeof text === 'string') texts.push(text)
      if (typeof text === 'string' && message['role'] === 'user') lastUserText = text
      if (file) mediaTokens += tokensPerFile
      if (image) mediaTokens += Math.min(tokensPerImage, String(fieldsOf(image)['url']).length)
    }
    for (const call of [message['tool_calls'] ?? []].flat()) {
      const { name, arguments: given } = fieldsOf(fieldsOf(call)['function'])
      texts.push(String(name), String(given))
    }
  }
  const characters = texts.reduce((sum, text) => sum + text.length, 0)
  const promptTokens = Math.ceil(characters / 4) + 4 * messages.length + mediaTokens
  return { prompt: texts.join('\n'), lastUserText, promptTokens }
}

function toolToCall(body: Fields): ChatRequest['tool'] {
  const { tools, tool_choice: choice } = body
  if (!Array.isArray(tools) || tools.length === 0 || choice === 'none') return null
  const named = fieldsOf(fieldsOf(choice)['function'])['name']
  const functions = tools.map((tool) => fieldsOf(fieldsOf(tool)['function']))
  const tool = functions.find(({ name }) => named === undefined || name === named)
  return tool ? { name: String(tool['name']), parameters: tool['parameters'] ?? {} } : null
}

function wantedJson(format: Fields): unknown {
  if (format['type'] === 'json_object') return {}
  if (format['type'] !== 'json_schema') return null
  return fieldsOf(format['json_schema'])['schema'] ?? {}
}

function fieldsOf(value: unknown): Fields {
  return value !== null && typeof value === 'object' ? (value as Fields) : {}
}
