import express, { type RequestHandler } from 'express'
import { Pool } from 'undici'
import { z } from 'zod'

// The least that a gateway without books must do: parse and validate the request, build a new one for the provider,
// parse and validate its response, and build a new one for the caller. Express, zod and undici, as anyone would write
// it. Arguments: the provider's base address and the port to listen on.

const [providerUrl, port] = process.argv.slice(2)

const text = z.object({ type: z.literal('text'), text: z.string() })
const image = z.object({ type: z.literal('image_url'), image_url: z.object({ url: z.string() }) })
const content = z.union([z.string(), z.array(z.union([text, image]))])
const toolCall = z.object({
  id: z.string(),
  type: z.literal('function'),
  function: z.object({ name: z.string(), arguments: z.string() }),
})
const message = z.discriminatedUnion('role', [
  z.object({ role: z.literal('system'), content }),
  z.object({ role: z.literal('user'), content }),
  z.object({ role: z.literal('assistant'), content: content.nullish(), tool_calls: z.array(toolCall).optional() }),
  z.object({ role: z.literal('tool'), content, tool_call_id: z.string() }),
])
const tool = z.object({
  type: z.literal('function'),
  function: z.object({
    name: z.string(),
    description: z.string().optional(),
    parameters: z.looseObject({}).optional(),
  }),
})
const chatRequest = z.strictObject({
  model: z.string().min(1).max(256),
  messages: z.array(message).min(1).max(2048),
  max_tokens: z.int().min(1).optional(),
  temperature: z.number().min(0).max(2).optional(),
  top_p: z.number().min(0).max(1).optional(),
  stop: z.union([z.string(), z.array(z.string()).max(4)]).optional(),
  seed: z.int().optional(),
  tools: z.array(tool).max(128).optional(),
})
const chatAnswer = z.object({
  choices: z.array(
    z.object({
      index: z.int(),
      message: z.object({
        role: z.literal('assistant'),
        content: z.string().nullable(),
        tool_calls: z.array(toolCall).optional(),
      }),
      finish_reason: z.string(),
    }),
  ),
  usage: z.object({ prompt_tokens: z.int(), completion_tokens: z.int(), total_tokens: z.int() }),
})

const app = express()
app.disable('x-powered-by')
app.set('etag', false)
app.get('/health/ready', (_req, res) => void res.json({ status: 'ready' }))
app.post('/v1/chat/completions', express.json({ limit: '4mb' }), complete(new Pool(providerUrl!)))
app.listen(Number(port), '127.0.0.1')

function complete(provider: Pool): RequestHandler {
  return async (req, res) => {
    const { authorization } = req.headers
    if (!authorization?.startsWith('Bearer ')) return void res.status(401).json({ error: { code: 'key_missing' } })
    const asked = chatRequest.safeParse(req.body)
    if (!asked.success) return void res.status(400).json({ error: { message: z.prettifyError(asked.error) } })
    const answer = await provider.request({
      path: '/v1/chat/completions',
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify({ ...asked.data, max_tokens: asked.data.max_tokens ?? 4096 }),
    })
    if (answer.statusCode !== 200) return void res.status(502).json({ error: { code: 'provider_failed' } })
    const { choices, usage } = chatAnswer.parse(await answer.body.json())
    const created = Math.floor(Date.now() / 1_000)
    res.json({ id: `chat-${created}`, object: 'chat.completion', created, model: asked.data.model, choices, usage })
  }
}
