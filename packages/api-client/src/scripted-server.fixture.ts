import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { test } from 'vitest'

export interface SeenRequest {
  method: string
  url: string
  headers: IncomingMessage['headers']
  body: string
  /** Monotonic milliseconds. */
  atMs: number
}
export type Step = (res: ServerResponse, req: IncomingMessage) => void

/** `test` with a server that responds to each request with the next step of a script, and with 418 after the last. */
// oxlint-disable-next-line no-empty-pattern -- vitest reads from the pattern what a fixture needs
export const scriptedTest = test.extend('server', async ({}, { onCleanup }) => {
  const requests: SeenRequest[] = []
  const script: Step[] = []
  const server = createServer(async (req, res) => {
    const { method = '', url = '', headers } = req
    const atMs = performance.now()
    requests.push({ method, url, headers, body: await text(req), atMs })
    const step = script.shift() ?? ((res) => res.writeHead(418).end())
    step(res, req)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onCleanup(() => {
    server.closeAllConnections()
    server.close()
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    answers: (...steps: Step[]) => void script.push(...steps),
  }
})

export const json =
  (value: unknown, status = 200, headers: Record<string, string> = {}): Step =>
  (res) =>
    res.writeHead(status, { 'content-type': 'application/json; charset=utf-8', ...headers }).end(JSON.stringify(value))

/** A refusal, with additional headers. */
export const refusal = (code: string, status: number, headers: Record<string, string> = {}): Step =>
  json(
    {
      error: {
        code,
        type: 'api_error',
        param: null,
        message: `It is ${code}.`,
        resolution: 'Do something.',
        details: { code },
      },
    },
    status,
    { 'x-request-id': 'req_1', ...headers },
  )

/** Closes the connection without a response. */
export const cut: Step = (_, req) => req.socket.destroy()

/** Closes the connection within the response, after this text. */
export const cutAfter =
  (text: string, type = 'application/json'): Step =>
  (res) => {
    res.writeHead(200, { 'content-type': type, 'content-length': String(Buffer.byteLength(text) + 10) })
    res.write(text, () => res.socket?.end())
  }
