import { runService } from '@gateway/process/run-service'
import { service } from './service.ts'

await runService(service)
