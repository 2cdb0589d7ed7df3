import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

export interface ReceivedNotice {
  headers: IncomingHttpHeaders
  body: string
}

/** Starts a webhook endpoint that collects notices and responds to each with `answer.status`. */
export async function startNoticeReceiver() {
  const received: ReceivedNotice[] = []
  const answer = { status: 204 }
  const server = createServer((req, res) => {
    void text(req).then((body) => {
      received.push({ headers: req.headers, body })
      res.writeHead(answer.status).end()
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/notices`,
    received,
    answer,
    stop: () => void server.close(),
  }
}
