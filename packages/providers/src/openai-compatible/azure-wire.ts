import type { ProviderConfig } from '../provider-config.ts'
import type { WireFormat } from '../wire-format.ts'
import { chatAnswers, chatBody, type Dialect } from './chat-wire.ts'

type Config = Extract<ProviderConfig, { kind: 'azure-openai' }>

/**
 * Chat completions as Azure OpenAI has them: the same bodies, the key in a header of its own, and the deployment in the
 * address where an `apiVersion` is given.
 */
export function azureChatWire(config: Config): WireFormat {
  const address = azureAddress(config)
  const dialect: Dialect = {
    capField: config.capField ?? 'max_completion_tokens',
    streamUsageField: true,
    toolCallIds: 'any',
    reasoningHistory: false,
  }
  return {
    request: (call) => ({ ...address(call.model, '/chat/completions'), body: chatBody(call, dialect) }),
    ...chatAnswers,
  }
}

/** Where a deployment is asked for something, and with which key. */
export function azureAddress({ apiKey, apiVersion }: Pick<Config, 'apiKey' | 'apiVersion'>) {
  const headers = apiKey === undefined ? [] : ['api-key', apiKey]
  return (deployment: string, path: string) => ({
    headers,
    path:
      apiVersion === undefined
        ? path
        : `/deployments/${encodeURIComponent(deployment)}${path}?api-version=${apiVersion}`,
  })
}
