import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { openCallLog } from './call-log.ts'
import { openControl, type ProviderControl } from './control.ts'
import { openFaultBook } from './fault-rule.ts'
import { openHeldCalls } from './held-calls.ts'
import { providerHandler } from './handle-request.ts'

export interface SimulatedProvider {
  /**
   * Base address without `/v1`; the wire formats are under `${url}/v1`, the control endpoint under `${url}/control`.
   */
  url: string
  control: ProviderControl
  /** Ends every open call and closes the port. */
  stop(): Promise<void>
}

export interface StartOptions {
  /** Default: 127.0.0.1. */
  host?: string
  /** Default: 0, a free port chosen by the kernel. */
  port?: number
}

/** Starts a simulated provider: a real HTTP server that speaks the wire formats of rules §8.2. */
export async function startSimulatedProvider({
  host = '127.0.0.1',
  port = 0,
}: StartOptions = {}): Promise<SimulatedProvider> {
  const log = openCallLog()
  const faults = openFaultBook()
  const heldCalls = openHeldCalls()
  const control = openControl({ log, faults, heldCalls })
  const server = createServer(providerHandler({ log, faults, heldCalls, control }))
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
  const address = server.address() as AddressInfo
  return {
    url: `http://${host}:${address.port}`,
    control,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
