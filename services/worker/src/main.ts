import { runService } from '@gateway/service-kit/process/run-service'
import { service } from './service.ts'

await runService(service)
