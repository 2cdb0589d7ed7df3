import { ConfigurationError } from '@gateway/service-kit/process/config'
import { readBridgeConfig, USAGE } from './bridge-config.ts'
import { runBridge } from './run-bridge.ts'

const say = (text: string) => void process.stderr.write(`${text}\n`)

if (process.argv.includes('--help')) {
  say(USAGE)
  process.exit(0)
}

await runBridge(configOrExit())

function configOrExit() {
  try {
    return readBridgeConfig(process.argv.slice(2), process.env)
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error
    say(['gateway-mcp-bridge cannot start:', ...error.problems.map((problem) => `  ${problem}`), '', USAGE].join('\n'))
    process.exit(78)
  }
}
