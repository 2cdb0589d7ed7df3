import type { RequestHandler } from 'express'
import type { Logger } from '@gateway/process/logger'
import { productCaller } from './call-product.ts'
import { strangerRefuser } from './refuse-strangers.ts'
import { executionResults } from './run-result.ts'
import { serveMcp } from './serve-mcp.ts'
import { mediaShower } from './show-media.ts'
import { mcpSpeaker } from './speak.ts'

type Deps = Omit<Parameters<typeof serveMcp>[0], 'refuseStrangers' | 'speak'> &
  Omit<Parameters<typeof mcpSpeaker>[0], 'callProduct' | 'onTrouble'> &
  Omit<Parameters<typeof productCaller>[0], 'executionResult'> &
  Parameters<typeof mediaShower>[0] & {
    /** Hosts whose pages may call, and under which this process is called directly, besides those of this machine. */
    hosts: string[]
    log: Logger
  }

/** Sandbox products over MCP: who may call, how it is spoken, and what a call of the tool does (spec 4.4). */
export function openMcp({ hosts, log, ...deps }: Deps): RequestHandler<{ id: string }> {
  const callProduct = productCaller({ ...deps, executionResult: executionResults({ showMedia: mediaShower(deps) }) })
  const onTrouble = (error: Error) => log.debug({ err: error }, 'a message was refused by MCP')
  const speak = mcpSpeaker({ ...deps, callProduct, onTrouble })
  return serveMcp({ ...deps, refuseStrangers: strangerRefuser(hosts), speak })
}
