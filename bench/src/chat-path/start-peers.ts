import path from 'node:path'
import { freePort } from '@gateway/local-stack/stack-ports'
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
  floor: RunningProgram & { url: string }
  portkey: RunningProgram & { url: string }
}

const file = (name: string) => path.join(import.meta.dirname, name)

/** Starts the programs that the gateway is compared with, in front of the same provider. */
export async function startPeers({ providerUrl, folder, peersFolder, stops, log }: Deps): Promise<Peers> {
  async function startOwn(name: string, program: string): Promise<RunningProgram & { url: string }> {
    const port = await freePort(undefined, `the ${name}`)
    const url = `http://127.0.0.1:${port}`
    const started = await startProgram({
      name,
      entry: file('run-peer.ts'),
      args: [file(program), providerUrl, String(port)],
      env: {},
      logFolder: folder,
      readyUrl: `${url}/health/ready`,
    })
    stops.add(started.stop)
    return { ...started, url }
  }

  const proxy = await startOwn('proxy', 'bare-proxy.ts')
  const floor = await startOwn('floor', 'floor.ts')
  const portkeyPort = await freePort(undefined, 'Portkey')
  const portkeyUrl = `http://127.0.0.1:${portkeyPort}`
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
  return { proxy, floor, portkey: { ...portkey, url: portkeyUrl } }
}
