import type { Service } from '@gateway/service-kit/process/open-service'
import { providersOf, workerConfig } from './config.ts'
import { startWorker } from './start.ts'

export const service: Service<typeof workerConfig> = {
  name: 'worker',
  config: workerConfig,
  start: (config, tools) => startWorker(config, providersOf(config, tools.env), tools),
}
