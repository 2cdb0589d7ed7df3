// Span attributes of a provider call, following the semantic conventions for generative AI. The model is always the
// product: its provider stays out of traces too, because anyone who monitors the stack can read them.

import { redactedJson } from '@gateway/service-kit/text/redact'

type Attributes = Record<string, string | number | boolean | string[]>

export interface CallFacts {
  /** `chat`, `embeddings`, or `generate_content` for images and audio. */
  operation: 'chat' | 'embeddings' | 'generate_content'
  product: string
  invocation: string
  output?: 'text' | 'image' | 'speech'
  /** Output token cap; null if there is none. */
  maxTokens: number | null
  stream?: boolean
}

/** Attributes at the start of a call. */
export function callAttributes({ operation, product, invocation, maxTokens, stream, output }: CallFacts): Attributes {
  return {
    'gen_ai.operation.name': operation,
    'gen_ai.request.model': product,
    'service.invocation': invocation,
    ...(output !== undefined && { 'gen_ai.output.type': output }),
    ...(maxTokens !== null && { 'gen_ai.request.max_tokens': maxTokens }),
    ...(stream !== undefined && { 'gen_ai.request.stream': stream }),
  }
}

export interface AnswerFacts {
  product: string
  invocation: string
  /** Token counts; null if none were reported. */
  usage: { promptTokens: number; completionTokens: number } | null
  finishReasons: string[]
}

/** Attributes of the response. */
export function answerAttributes({ product, invocation, usage, finishReasons }: AnswerFacts): Attributes {
  return {
    'gen_ai.response.model': product,
    'gen_ai.response.id': invocation,
    ...(usage && {
      'gen_ai.usage.input_tokens': usage.promptTokens,
      'gen_ai.usage.output_tokens': usage.completionTokens,
    }),
    ...(finishReasons.length > 0 && { 'gen_ai.response.finish_reasons': finishReasons }),
  }
}

/** Prompt or response as JSON text, without credentials in it. Only used if the operator sets `TRACE_CONTENT`. */
export function contentAttributes(side: 'input' | 'output', messages: unknown): Attributes {
  return { [`gen_ai.${side}.messages`]: redactedJson(messages) }
}
