import { runService } from '@gateway/process/run-service'
import { originsOf, workerConfig } from './config.ts'
import { startWorker } from './start.ts'

await runService('worker', workerConfig, (config, tools) => {
  originsOf(config, process.env) // no node calls an origin yet, but a wrong value stops the start already
  return startWorker(config, tools)
})
