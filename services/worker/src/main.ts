import { runService } from '@gateway/process/run-service'
import { providersOf, workerConfig } from './config.ts'
import { startWorker } from './start.ts'

await runService('worker', workerConfig, (config, tools) =>
  startWorker(config, providersOf(config, process.env), tools),
)
