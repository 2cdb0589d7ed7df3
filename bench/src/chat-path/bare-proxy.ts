import express, { type RequestHandler } from 'express'
import { pipeline } from 'node:stream/promises'
import { Pool } from 'undici'

// The minimal proxy between a caller and a provider: Express takes the request, undici forwards it, both bodies stream.
// Arguments: the provider's base address and the port to listen on.

const [providerUrl, port] = process.argv.slice(2)

const app = express()
app.disable('x-powered-by')
app.set('etag', false)
app.post('/v1/chat/completions', passOn(new Pool(providerUrl!)))
app.get('/health/ready', (_req, res) => void res.json({ status: 'ready' }))
app.listen(Number(port), '127.0.0.1')

function passOn(provider: Pool): RequestHandler {
  return async (req, res) => {
    const { authorization, 'content-type': contentType } = req.headers
    const answer = await provider.request({
      path: req.url,
      method: 'POST',
      headers: { authorization, 'content-type': contentType },
      body: req,
    })
    res.status(answer.statusCode).setHeader('content-type', String(answer.headers['content-type']))
    await pipeline(answer.body, res)
  }
}
