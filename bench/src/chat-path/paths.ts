import path from 'node:path'
import type { BenchDeps } from '../bench.ts'
import { startPeers, type Peers } from './start-peers.ts'
import { startStack, type Stack } from './start-stack.ts'
import { buildTenant, type PricedTenant } from './tenant.ts'

/** A way to the same provider. */
export interface Path {
  url: string
  headers: Record<string, string>
  model: string
  /** Its processes; `gateway` is the peer or ours. */
  pids: Record<string, number>
}

export const PATHS = ['provider', 'proxy', 'floor', 'portkey', 'stack'] as const
export type PathName = (typeof PATHS)[number]

export const titles: Record<PathName, string> = {
  provider: 'bare simulated provider',
  proxy: 'Express 5 + undici, nothing else',
  floor: 'Express 5 + zod + undici, no books',
  portkey: 'Portkey 1.15.2, stateless',
  stack: 'this gateway, charged and durable',
}

/** The small call that takes them. */
export const callOf = ({ url, headers, model }: Pick<Path, 'url' | 'headers' | 'model'>) => ({
  url: `${url}/v1/chat/completions`,
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify({
    model,
    max_tokens: 50,
    messages: [
      {
        role: 'user',
        content: 'Tell me in a few words why the sky is blue at noon and red in the evening, as to a child of ten.',
      },
    ],
  }),
})

const peersFolder = path.resolve(import.meta.dirname, '../../.peers')

/** Starts everything that the paths lead through. */
export async function startPaths({
  stops,
  log,
  profile,
}: Pick<BenchDeps, 'stops' | 'log'> & { profile: string | null }) {
  log('Starting Postgres, Redis, provider, ledger and gateway')
  const stack = await startStack(stops, profile)
  const tenant = await buildTenant(stack.postgres.adminUrl)
  log('Starting the peers')
  const peers = await startPeers({ providerUrl: stack.provider.url, folder: stack.folder, peersFolder, stops, log })
  return { stack, paths: pathsTo(stack, tenant, peers) }
}

export function pathsTo(stack: Stack, tenant: PricedTenant, { proxy, floor, portkey }: Peers): Record<PathName, Path> {
  const model = 'sim'
  const provider = { provider: stack.provider.pid }
  const none = { authorization: 'Bearer none' }
  const toProvider = { 'x-portkey-provider': 'openai', 'x-portkey-custom-host': `${stack.provider.url}/v1` }
  return {
    provider: { url: stack.provider.url, headers: {}, model, pids: provider },
    proxy: { url: proxy.url, headers: none, model, pids: { gateway: proxy.pid, ...provider } },
    floor: { url: floor.url, headers: none, model, pids: { gateway: floor.pid, ...provider } },
    portkey: {
      url: portkey.url,
      headers: { ...none, ...toProvider },
      model,
      pids: { gateway: portkey.pid, ...provider },
    },
    stack: {
      url: stack.gateway.url,
      headers: { authorization: `Bearer ${tenant.key.secret}` },
      model: tenant.model,
      pids: { gateway: stack.gateway.pid, ledger: stack.ledger.pid, postgres: stack.postgres.pid, ...provider },
    },
  }
}
