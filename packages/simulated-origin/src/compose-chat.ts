import type { FaultRule } from './fault-rule.ts'
import { fitSchema } from './fit-schema.ts'
import { prose, tokensOf } from './prose.ts'
import type { ChatRequest } from './read-chat-request.ts'
import { seeded } from './seeded.ts'
import type { Seeded } from './seeded.ts'

/** What the model "said", cut into tokens. */
export interface ChatAnswer {
  reasoning: string[]
  content: string[]
  toolCall: { id: string; name: string; arguments: string[] } | null
  finish: 'stop' | 'length' | 'tool_calls'
  usage: object | null
  random: Seeded
}

/** The answer to a chat request: the same for the same model, messages and seed. */
export function composeChat(request: ChatRequest, rule: FaultRule | null): ChatAnswer {
  const random = seeded(`${request.model}\n${request.seed}\n${request.prompt}`)
  const reasoning = request.model.includes('think') ? tokensOf(prose(random, 8 + random.next(12))) : []
  const tool = rule?.text === undefined ? request.tool : null
  const said = tool
    ? tokensOf(JSON.stringify(fitSchema(objectSchema(tool.parameters), random)))
    : tokensOf(cutAtStop(rule?.text ?? textFor(request, random), request.stop))

  const thought = reasoning.slice(0, request.outputCap)
  const spoken = said.slice(0, request.outputCap - thought.length)
  const cutShort = thought.length + spoken.length < reasoning.length + said.length
  return {
    reasoning: thought,
    content: tool ? [] : spoken,
    toolCall: tool ? { id: `call_${random.hex(24)}`, name: tool.name, arguments: spoken } : null,
    finish: cutShort ? 'length' : tool ? 'tool_calls' : 'stop',
    usage: rule?.missingUsage
      ? null
      : usage(request.promptTokens, thought.length + spoken.length, thought.length, rule?.usageFactor ?? 1),
    random,
  }
}

function textFor({ json, lastUserText }: ChatRequest, random: Seeded): string {
  if (json !== null) return JSON.stringify(fitSchema(objectSchema(json), random))
  const topic = tokensOf(lastUserText.slice(0, 100)).slice(0, 8).join('').trim()
  const words = prose(random, 10 + random.next(20))
  return topic === '' ? words : `On "${topic}": ${words}`
}

/** The shape of an answer nobody described: an object with one text. */
const anyObject = { type: 'object', properties: { answer: { type: 'string' } } }

function objectSchema(schema: unknown): unknown {
  return schema !== null && typeof schema === 'object' && Object.keys(schema).length > 0 ? schema : anyObject
}

function cutAtStop(text: string, stops: string[]): string {
  const found = stops.map((stop) => text.indexOf(stop)).filter((at) => at >= 0)
  return found.length === 0 ? text : text.slice(0, Math.min(...found))
}

function usage(prompt: number, completion: number, reasoning: number, factor: number): object {
  const promptTokens = Math.ceil(prompt * factor)
  const completionTokens = Math.ceil(completion * factor)
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
    prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: reasoning, audio_tokens: 0 },
  }
}
