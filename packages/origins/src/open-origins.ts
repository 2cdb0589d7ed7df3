import type { LookupFunction } from 'node:net'
import type { ChatAdapter } from './chat-adapter.ts'
import type { ChatAnswer, ChatCall } from './chat-port.ts'
import { openAiCompatibleAdapter } from './openai-compatible/adapter.ts'
import { longestCallMs } from './origin-config.ts'
import type { OriginsConfig } from './origin-config.ts'
import { OriginFailure } from './origin-failure.ts'

export interface Origins {
  /**
   * Tries the call's routes in order, one attempt each, and answers with the first that works. Goes on to the next
   * route only while nothing of an answer has been handed on, and only after a failure that another origin may not
   * have. Rejects with the last `OriginFailure`, or with the signal's reason.
   */
  chat(call: ChatCall): Promise<ChatAnswer>
  /** Waits for running calls, then closes all connections. */
  close(): Promise<void>
}

export interface OriginsOptions {
  /** Told of every attempt that failed, also of those another route made good. For logs and metrics. */
  attemptFailed?: (failure: OriginFailure) => void
  /** In place of the system's name look-up. Private addresses are refused whatever it answers. */
  resolve?: LookupFunction
}

/** Opens the configured origins. Connections are made when calls need them. */
export function openOrigins(config: OriginsConfig, { attemptFailed, resolve }: OriginsOptions = {}): Origins {
  const adapters = new Map<string, ChatAdapter>(
    Object.entries(config).map(([name, origin]) => [name, openAiCompatibleAdapter(name, origin, resolve)]),
  )

  return {
    async chat(call) {
      const startedMs = performance.now()
      let last: OriginFailure | null = null
      for (const route of call.routes) {
        const leftMs = longestCallMs - (performance.now() - startedMs)
        if (leftMs <= 0) break
        try {
          const adapter = adapters.get(route.origin)
          if (!adapter) throw notConfigured(route.origin)
          const { forwarded, outputCap, stream, signal } = call
          return await adapter.chat({ route, leftMs, forwarded, outputCap, stream, signal })
        } catch (error) {
          if (!(error instanceof OriginFailure)) throw error
          attemptFailed?.(error)
          last = error
          if (!error.retryable) break
        }
      }
      throw last ?? notConfigured('(none)')
    },
    close: async () => void (await Promise.all([...adapters.values()].map((adapter) => adapter.close()))),
  }
}

function notConfigured(origin: string): OriginFailure {
  return new OriginFailure({ kind: 'unreachable', origin, detail: 'no origin of that name is configured' })
}
