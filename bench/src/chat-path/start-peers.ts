import path from 'node:path'
import { freePort } from '@gateway/local-stack/free-port'
import { startProgram, type RunningProgram } from '../stack/start-program.ts'
import type { Stops } from '../stack/stops.ts'
import { installPortkey } from './portkey.ts'

interface Deps {
  providerUrl: string
  folder: string
  /** Where peers stay installed between benches. */
  peersFolder: string
  stops: Stops
  log: (line: string) => void
}

export interface Peers {
  proxy: RunningProgram & { url: string }
  portkey: RunningProgram & { url: string }
}

const file = (name: string) => path.join(import.meta.dirname, name)

/** Starts the programs that the gateway is compared with, in front of the same provider. */
export async function startPeers({ providerUrl, folder, peersFolder, stops, log }: Deps): Promise<Peers> {
  const [proxyPort, portkeyPort] = [await freePort(undefined, 'the proxy'), await freePort(undefined, 'Portkey')]
  const [proxyUrl, portkeyUrl] = [`http://127.0.0.1:${proxyPort}`, `http://127.0.0.1:${portkeyPort}`]

  const proxy = await startProgram({
    name: 'proxy',
    entry: file('run-peer.ts'),
    args: [file('bare-proxy.ts'), providerUrl, String(proxyPort)],
    env: {},
    logFolder: folder,
    readyUrl: `${proxyUrl}/health/ready`,
  })
  stops.add(proxy.stop)

  const portkey = await startProgram({
    name: 'portkey',
    entry: file('run-peer.ts'),
    // Without its console and its request log: as fast as it gets.
    args: [await installPortkey(peersFolder, log), `--port=${portkeyPort}`, '--headless'],
    env: { NODE_ENV: 'production' },
    logFolder: folder,
    readyUrl: portkeyUrl,
  })
  stops.add(portkey.stop)
  return { proxy: { ...proxy, url: proxyUrl }, portkey: { ...portkey, url: portkeyUrl } }
}
