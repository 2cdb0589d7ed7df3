import { z } from 'zod'
import { isImageUrl } from './chat-images.ts'

const textPart = z.strictObject({ type: z.literal('text'), text: z.string() })
const refusalPart = z.strictObject({ type: z.literal('refusal'), refusal: z.string() })
const imagePart = z.strictObject({
  type: z.literal('image_url'),
  image_url: z.strictObject({
    url: z
      .string()
      .refine(
        isImageUrl,
        'must be a data: URL of a PNG, JPEG, WebP or GIF image in base64, asset: and the id of an asset of the project, or an https: address',
      )
      .describe(
        'a data: URL, asset: and the id of an asset, or, where image_input.https of the model says so, an https: address',
      ),
    detail: z.enum(['auto', 'low', 'high']).optional(),
  }),
})
const toolCall = z.strictObject({
  id: z.string().min(1),
  type: z.literal('function').default('function'),
  index: z.number().int().optional(),
  function: z.strictObject({ name: z.string().min(1), arguments: z.string() }),
})
/** What a model thought, sealed for who serves it: it comes back as it was answered. */
export const reasoningDetail = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('reasoning.text'), text: z.string(), signature: z.string() }),
  z.strictObject({ type: z.literal('reasoning.encrypted'), data: z.string(), id: z.string().optional() }),
])
const name = z.string().min(1).max(64).optional()

/** A message of a chat request: text and images in, what a model answered earlier back (rules §3.1). */
export const message = z.discriminatedUnion('role', [
  z.strictObject({
    role: z.enum(['system', 'developer']).transform(() => 'system' as const),
    content: z.union([z.string(), z.array(textPart).min(1)]),
    name,
  }),
  z.strictObject({
    role: z.literal('user'),
    content: z.union([z.string(), z.array(z.discriminatedUnion('type', [textPart, imagePart])).min(1)]),
    name,
  }),
  z.strictObject({
    role: z.literal('assistant'),
    content: z.union([z.string(), z.array(z.discriminatedUnion('type', [textPart, refusalPart])).min(1)]).nullish(),
    name,
    refusal: z.string().nullish(),
    tool_calls: z.array(toolCall).min(1).nullish(),
    reasoning_content: z.string().nullish(),
    reasoning: z.string().nullish(),
    reasoning_details: z.array(reasoningDetail).max(256).nullish(),
  }),
  z.strictObject({
    role: z.literal('tool'),
    content: z.union([z.string(), z.array(textPart).min(1)]),
    tool_call_id: z.string().min(1),
    name, // of the tool: LangChain sends it
  }),
])
