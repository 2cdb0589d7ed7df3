import { runService } from '@gateway/process/run-service'
import { gatewayConfig, providersOf } from './config.ts'
import { startGateway } from './start.ts'

await runService('gateway', gatewayConfig, (config, tools) =>
  startGateway(config, providersOf(config, process.env), tools),
)
