import { runService } from '@gateway/process/run-service'
import { gatewayConfig, originsOf } from './config.ts'
import { startGateway } from './start.ts'

await runService('gateway', gatewayConfig, (config, tools) =>
  startGateway(config, originsOf(config, process.env), tools),
)
