import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface CodeReceiver {
  port: number
  /** The code that the browser sends. */
  code: Promise<string>
  /** Redirects the browser that sent the code, or shows the failure; does nothing before a browser came. */
  answer(said: { goTo: string } | { failure: string }): void
  close(): void
}

/**
 * Listens on this machine alone for the browser that sends a code (RFC 8252, 7.3). Requests without the state are
 * ignored, since other pages and programs reach this port too.
 * @param limit `code` rejects with its reason
 */
export async function receiveCode(state: string, limit: AbortSignal): Promise<CodeReceiver> {
  let browser: ServerResponse | null = null
  const server = createServer()
  const code = new Promise<string>((resolve, reject) => {
    limit.addEventListener('abort', () => reject(limit.reason as Error))
    server.on('request', ({ method, url: address = '' }, res) => {
      const [path, query] = address.split('?')
      const search = new URLSearchParams(query)
      const brought = search.get('code')
      const isOurs = method === 'GET' && path === '/' && search.get('state') === state
      if (!isOurs || brought === null || browser !== null) return end(res, 404, 'Not found.')
      browser = res
      resolve(brought)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    code,
    answer(said) {
      if (browser === null) return
      if ('goTo' in said) end(browser, 303, '', { Location: said.goTo })
      else end(browser, 400, `${said.failure} See the terminal for how to fix it.`)
    },
    close() {
      server.close()
      server.closeIdleConnections()
    },
  }
}

function end(res: ServerResponse, status: number, text: string, headers: Record<string, string> = {}): void {
  const plain = { 'Content-Type': 'text/plain; charset=utf-8', 'X-Content-Type-Options': 'nosniff' }
  res.writeHead(status, { ...plain, 'Cache-Control': 'no-store', Connection: 'close', ...headers }).end(text)
}
