import type { PricedTenant } from '../chat-path/tenant.ts'
import type { Peers } from '../chat-path/start-peers.ts'
import type { Stack } from '../chat-path/start-stack.ts'

/** A way to the same provider. */
export interface Path {
  name: PathName
  url: string
  headers: Record<string, string>
  model: string
  /** Its processes, without the provider. */
  pids: Record<string, number>
}

export type PathName = 'provider' | 'proxy' | 'portkey' | 'stack'

export const titles: Record<PathName, string> = {
  provider: 'the provider alone',
  proxy: 'Express 5 + undici, nothing else',
  portkey: 'Portkey 1.15.2, stateless',
  stack: 'this gateway, charged and durable',
}

export function pathsTo(stack: Stack, tenant: PricedTenant, { proxy, portkey }: Peers): Record<PathName, Path> {
  const model = 'sim'
  const none = { authorization: 'Bearer none' }
  const toProvider = { 'x-portkey-provider': 'openai', 'x-portkey-custom-host': `${stack.provider.url}/v1` }
  return {
    provider: { name: 'provider', url: stack.provider.url, headers: {}, model, pids: {} },
    proxy: { name: 'proxy', url: proxy.url, headers: none, model, pids: { gateway: proxy.pid } },
    portkey: {
      name: 'portkey',
      url: portkey.url,
      headers: { ...none, ...toProvider },
      model,
      pids: { gateway: portkey.pid },
    },
    stack: {
      name: 'stack',
      url: stack.gateway.url,
      headers: { authorization: `Bearer ${tenant.key.secret}` },
      model: tenant.model,
      pids: { gateway: stack.gateway.pid, ledger: stack.ledger.pid, postgres: stack.postgres.pid },
    },
  }
}
