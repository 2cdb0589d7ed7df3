// One small call on each wire, whole and as a stream, and one for embeddings.

/** Products of a caller. */
export interface WireModels {
  model: string
  embedder: string
}

interface WireCall {
  path: string
  body: object
}

/** Fields of the wire, given a prompt. */
const wires: { path: string; fields: (prompt: string) => object }[] = [
  {
    path: '/v1/chat/completions',
    fields: (prompt) => ({ messages: [{ role: 'user', content: prompt }], max_tokens: 50 }),
  },
  {
    path: '/v1/messages',
    fields: (prompt) => ({ messages: [{ role: 'user', content: prompt }], max_tokens: 50 }),
  },
  { path: '/v1/responses', fields: (prompt) => ({ input: prompt, max_output_tokens: 50 }) },
]

const kinds = wires.flatMap((wire) => [false, true].map((stream) => ({ ...wire, stream })))

/**
 * Returns a call of any wire.
 * @param key hexadecimal; the same one gives the same call
 */
export function anyWireCall(key: string, { model, embedder }: WireModels): WireCall {
  const prompt = `Call ${key}`
  const kind = kinds[parseInt(key.slice(0, 6), 16) % (kinds.length + 1)]
  if (!kind) return { path: '/v1/embeddings', body: { model: embedder, input: [prompt], dimensions: 8 } }
  return { path: kind.path, body: { model, ...kind.fields(prompt), stream: kind.stream } }
}
