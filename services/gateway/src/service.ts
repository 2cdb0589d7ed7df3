import type { Service } from '@gateway/service-kit/process/open-service'
import { providersOf, gatewayConfig } from './config.ts'
import { startGateway } from './start.ts'

export const service: Service<typeof gatewayConfig> = {
  name: 'gateway',
  config: gatewayConfig,
  isEdge: true,
  start: (config, tools) => startGateway(config, providersOf(config, tools.env), tools),
}
