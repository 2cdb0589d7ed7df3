import { startSimulatedProvider } from './start-provider.ts'

// HOST and PORT: where to listen (default 127.0.0.1 and a free port).
// STOP_WITH_PARENT=1: also end when the parent's end of stdin closes.
const { HOST = '127.0.0.1', PORT = '0', STOP_WITH_PARENT } = process.env

const port = Number(PORT)
if (!Number.isInteger(port) || port < 0 || port > 65_535) {
  console.error(`PORT must be a whole number from 0 to 65535, not "${PORT}".`)
  process.exit(1)
}

const provider = await startSimulatedProvider({ host: HOST, port }).catch((error: Error) => {
  console.error(`The simulated provider can't listen on ${HOST}:${PORT}: ${error.message}`)
  process.exit(1)
})

const stop = (): void => {
  void provider.stop().then(() => process.exit(0))
}
process.once('SIGTERM', stop)
process.once('SIGINT', stop)
if (STOP_WITH_PARENT === '1') process.stdin.resume().once('close', stop)

console.log(JSON.stringify({ listening: provider.url }))
