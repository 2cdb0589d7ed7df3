import { runService } from '@gateway/process/run-service'
import { originsOf, workerConfig } from './config.ts'
import { startWorker } from './start.ts'

await runService('worker', workerConfig, (config, tools) => startWorker(config, originsOf(config, process.env), tools))
