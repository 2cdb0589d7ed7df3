import type { ChatAnswer } from '../compose-chat.ts'
import { argumentsOf } from '../tool-arguments.ts'

/** The body of a response that isn't streamed. */
export function converseBody(answer: ChatAnswer): string {
  const { usage } = answer
  return JSON.stringify({
    output: { message: { role: 'assistant', content: blocksOf(answer).map(({ whole }) => whole) } },
    stopReason: stopReasons[answer.finish],
    ...(usage && { usage: counts(usage) }),
    metrics: { latencyMs: 7 },
  })
}

/** Each event as JSON under its name; the dialect encodes them as frames. */
export function converseEvents(answer: ChatAnswer): { content: string[]; ending: string[]; marker: string } {
  const content = [eventOf('messageStart', { role: 'assistant' })]
  blocksOf(answer).forEach(({ start, deltas }, contentBlockIndex) => {
    if (start) content.push(eventOf('contentBlockStart', { contentBlockIndex, start }))
    for (const delta of deltas) content.push(eventOf('contentBlockDelta', { contentBlockIndex, delta }))
    content.push(eventOf('contentBlockStop', { contentBlockIndex }))
  })
  const { usage, finish } = answer
  const ending = [
    eventOf('messageStop', { stopReason: stopReasons[finish] }),
    eventOf('metadata', { ...(usage && { usage: counts(usage) }), metrics: { latencyMs: 7 }, p: 'abcdef' }),
  ]
  return { content, ending, marker: '' }
}

function eventOf(name: string, payload: object): string {
  return JSON.stringify({ [name]: payload })
}

const stopReasons = {
  stop: 'end_turn',
  length: 'max_tokens',
  tool_calls: 'tool_use',
  content_filter: 'content_filtered',
}

/** Part of the prompt was read from the cache and part written to it: neither counts as input. */
function counts({ prompt, completion }: NonNullable<ChatAnswer['usage']>): object {
  const [read, written] = [Math.floor(prompt / 4), Math.floor(prompt / 8)]
  return {
    inputTokens: prompt - read - written,
    outputTokens: completion,
    totalTokens: prompt + completion,
    cacheReadInputTokens: read,
    cacheWriteInputTokens: written,
  }
}

interface Block {
  whole: object
  start: object | null
  deltas: object[]
}

function blocksOf({ reasoning, content, toolCall, random }: ChatAnswer): Block[] {
  const blocks: Block[] = []
  if (reasoning.length > 0) {
    const signature = `sim_signature${random.hex(16)}`
    blocks.push({
      whole: { reasoningContent: { reasoningText: { text: reasoning.join(''), signature } } },
      start: null,
      deltas: [...reasoning.map((text) => ({ text })), { signature }].map((delta) => ({ reasoningContent: delta })),
    })
  }
  if (content.length > 0)
    blocks.push({ whole: { text: content.join('') }, start: null, deltas: content.map((text) => ({ text })) })
  if (toolCall) {
    const { id, name, arguments: given } = toolCall
    const toolUseId = id.replace('call', 'tooluse')
    blocks.push({
      whole: { toolUse: { toolUseId, name, input: argumentsOf(given.join('')) } },
      start: { toolUse: { toolUseId, name } },
      deltas: given.map((input) => ({ toolUse: { input } })),
    })
  }
  return blocks
}
