// What a span says of a call to a provider, by the semantic conventions for generative AI. The model is always the product: who
// serves it stays out of traces too, since they go to anyone who watches the stack.

type Attributes = Record<string, string | number | boolean | string[]>

export interface CallFacts {
  /** `chat`, or `generate_content` for what makes an image or a sound. */
  operation: 'chat' | 'generate_content'
  product: string
  invocation: string
  output?: 'text' | 'image' | 'speech'
  /** Output tokens at most; null where there are none. */
  maxTokens: number | null
  stream?: boolean
}

/** Of a call that begins. */
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
  /** Tokens; null where none were reported. */
  usage: { promptTokens: number; completionTokens: number } | null
  finishReasons: string[]
}

/** Of a call that was answered. */
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

/** What was asked and what was answered, as JSON text; only for anyone who has switched it on (`TRACE_CONTENT`). */
export function contentAttributes(side: 'input' | 'output', messages: unknown): Attributes {
  return { [`gen_ai.${side}.messages`]: JSON.stringify(messages) }
}
