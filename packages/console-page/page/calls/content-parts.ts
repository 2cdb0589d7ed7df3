import type { CapturedContent } from '@gateway/api/console/capture'

/** A message, or another part of a request, as it is shown. */
export interface ContentPart {
  who: string
  text: string
  isCode: boolean
}

interface Message {
  role?: unknown
  content?: unknown
  refusal?: unknown
  reasoning?: unknown
  tool_calls?: unknown
}

const roles: Record<string, string> = {
  system: 'System',
  developer: 'System',
  user: 'User',
  assistant: 'Model',
  tool: 'Tool result',
}

/** The messages of the request, its other parameters, and the messages of the answer. */
export function contentParts({ request: { messages, ...parameters }, answer }: CapturedContent): ContentPart[] {
  const others = Object.keys(parameters).length > 0 ? [json('Parameters', parameters)] : []
  return [...messages.flatMap((message) => partsOf(message, '')), ...others, ...(answer ?? []).flatMap(answered)]
}

const answered = (message: unknown) => partsOf(message, 'Answer: ')

function partsOf(message: unknown, prefix: string): ContentPart[] {
  const { role, content, refusal, reasoning, tool_calls: calls } = message as Message
  const who = prefix + (roles[String(role)] ?? String(role))
  return [
    ...(typeof reasoning === 'string' ? [{ who: `${who}, reasoning`, text: reasoning, isCode: false }] : []),
    ...textOf(who, content),
    ...textOf(`${who}, refusal`, refusal),
    ...(calls === undefined || calls === null ? [] : [json(`${who}, tool calls`, calls)]),
  ]
}

/** A text, or the parts of one: texts are joined, and others shown as JSON. */
function textOf(who: string, content: unknown): ContentPart[] {
  if (typeof content === 'string') return content === '' ? [] : [{ who, text: content, isCode: false }]
  if (!Array.isArray(content)) return content === null || content === undefined ? [] : [json(who, content)]
  const texts = content.map((part: { text?: unknown }) => (typeof part.text === 'string' ? part.text : show(part)))
  return texts.length === 0 ? [] : [{ who, text: texts.join('\n\n'), isCode: false }]
}

const show = (value: unknown) => JSON.stringify(value, null, 2)
const json = (who: string, value: unknown): ContentPart => ({ who, text: show(value), isCode: true })
