import { createSocket } from 'node:dgram'
import { on, once } from 'node:events'

/** Starts a name server that never answers, on loopback. */
export async function startSilentNameServer() {
  const socket = createSocket('udp4').bind(0, '127.0.0.1')
  await once(socket, 'listening')
  const resolvConf = `import dns from 'node:dns'
    const { Resolver } = dns.promises
    dns.promises.Resolver = class extends Resolver {
      constructor(options) {
        super(options)
        this.setServers(['127.0.0.1:${socket.address().port}'])
      }
    }`
  return {
    /** For a service in a separate process that asks this server, as if the machine did. */
    environment: { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(resolvConf)}` },
    /** Resolves after this number of further questions. */
    async asked(questions: number): Promise<void> {
      let left = questions
      for await (const _ of on(socket, 'message')) if (--left <= 0) return
    },
    close: () => void socket.close(),
  }
}
