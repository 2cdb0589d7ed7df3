import type { FaultRule } from './fault-rule.ts'
import { fitSchema } from './fit-schema.ts'
import { prose, tokensOf, seeded, type Seeded } from './seeded.ts'
import type { ChatRequest } from './read-chat-request.ts'
import { hash } from 'node:crypto'

/** The text of the model, split into tokens. */
export interface ChatAnswer {
  reasoning: string[]
  content: string[]
  toolCall: { id: string; name: string; arguments: string[] } | null
  /** The text of a refusal; there is no content then. */
  refusal: string | null
  finish: 'stop' | 'length' | 'tool_calls' | 'content_filter'
  /** The stop sequence that ended it. */
  stoppedAt: string | null
  /** Tokens; `reasoning` is the part of the completion spent on reasoning. */
  usage: { prompt: number; completion: number; reasoning: number } | null
  random: Seeded
}

/** Composes the response to a chat request: the same for the same model, messages and seed. */
export function composeChat(request: ChatRequest, rule: FaultRule | null): ChatAnswer {
  const random = seeded(`${request.model}\n${request.seed}\n${request.prompt}`)
  const reasoning = request.model.includes('think') ? tokensOf(prose(random, 8 + random.next(12))) : []
  const refusal = rule?.declines ? `No: ${prose(random, 6)}` : null
  const tool = rule?.text === undefined && refusal === null ? request.tool : null
  const text = cutAtStop(rule?.text ?? textFor(request, random), request.stop)
  const said = tool
    ? tokensOf(rule?.toolArguments ?? JSON.stringify(fitSchema(objectSchema(tool.parameters), random)))
    : tokensOf(refusal ?? text.said)

  const thought = reasoning.slice(0, request.outputCap)
  const spoken = said.slice(0, request.outputCap - thought.length)
  const cutShort = thought.length + spoken.length < reasoning.length + said.length
  const plain = !tool && refusal === null
  return {
    reasoning: thought,
    content: plain ? spoken : [],
    toolCall: tool ? { id: `call_${random.hex(24)}`, name: tool.name, arguments: spoken } : null,
    refusal,
    finish: cutShort ? 'length' : tool ? 'tool_calls' : refusal === null ? 'stop' : 'content_filter',
    stoppedAt: plain && !cutShort ? text.stoppedAt : null,
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

/** Default schema of a JSON response: an object with one text. */
const anyObject = { type: 'object', properties: { answer: { type: 'string' } } }

function objectSchema(schema: unknown): unknown {
  return schema !== null && typeof schema === 'object' && Object.keys(schema).length > 0 ? schema : anyObject
}

function cutAtStop(text: string, stops: string[]): { said: string; stoppedAt: string | null } {
  const found = stops.map((stop) => ({ stop, at: text.indexOf(stop) })).filter(({ at }) => at >= 0)
  const [first] = found.toSorted((one, other) => one.at - other.at)
  return first ? { said: text.slice(0, first.at), stoppedAt: first.stop } : { said: text, stoppedAt: null }
}

function usage(prompt: number, completion: number, reasoning: number, factor: number): ChatAnswer['usage'] {
  return { prompt: Math.ceil(prompt * factor), completion: Math.ceil(completion * factor), reasoning }
}

// Signatures of thoughts. As at a real provider, a later request must bring them back unchanged, with what they sign.

/** Returns the proof that this model thought this. */
export function proofOf(...thought: string[]): string {
  return hash('sha256', JSON.stringify(['simulated thought', ...thought])).slice(0, 32)
}
