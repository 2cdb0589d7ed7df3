import {
  BedrockRuntimeClient,
  ConverseCommand,
  ConverseStreamCommand,
  type ConverseCommandInput,
} from '@aws-sdk/client-bedrock-runtime'
import type { ProviderConfig } from '../provider-config.ts'
import { NotReady, type WireRequest } from '../wire-format.ts'

type Config = Pick<Extract<ProviderConfig, { kind: 'bedrock' }>, 'apiKey' | 'baseUrl' | 'region'>

/**
 * Builds requests with the AWS SDK, which serializes, addresses and signs them, and stops it before it sends.
 * Connections, timeouts, retries and response reading are shared by all providers (exchange.ts); the SDK would use its
 * own.
 */
export function requestSigner({ apiKey, baseUrl, region }: Config) {
  const endpoint = baseUrl.replace(/\/$/, '')
  const client = new BedrockRuntimeClient({
    region,
    endpoint,
    maxAttempts: 1,
    // The protocol determines which headers are signed.
    requestHandler: { metadata: { handlerProtocol: 'http/1.1' }, handle: neverSends },
    ...(apiKey !== undefined && { token: { token: apiKey }, authSchemePreference: ['httpBearerAuth'] }),
  })
  const basePath = new URL(endpoint).pathname.replace(/\/$/, '')

  return async function sign(input: ConverseCommandInput, stream: boolean): Promise<WireRequest> {
    const signed: SignedRequest[] = []
    const stopBeforeSending = () => async (args: { request: unknown }) => {
      signed.push(args.request as SignedRequest)
      return { response: {}, output: { $metadata: {} } as never }
    }
    const place = { step: 'deserialize', priority: 'high', name: 'stopBeforeSending' } as const
    try {
      if (stream) {
        const command = new ConverseStreamCommand(input)
        command.middlewareStack.add(stopBeforeSending, place)
        await client.send(command)
      } else {
        const command = new ConverseCommand(input)
        command.middlewareStack.add(stopBeforeSending, place)
        await client.send(command)
      }
    } catch (error) {
      // The SDK's message may name files and accounts.
      throw new NotReady(`the request can't be signed: ${error instanceof Error ? error.name : 'unknown'}`)
    }
    const { path, headers, body } = signed[0]!
    return { path: path.slice(basePath.length), headers: headersToSend(headers), body: textOf(body) }
  }
}

function neverSends(): Promise<never> {
  return Promise.reject(new Error('the gateway sends the requests of the SDK'))
}

interface SignedRequest {
  path: string
  headers: Record<string, string>
  body: string | Uint8Array
}

/** Headers that every request or HTTP itself writes, with the same values that were signed. */
const writtenAnyway = new Set(['content-type', 'content-length', 'host', 'user-agent'])

function headersToSend(headers: Record<string, string>): string[] {
  return Object.entries(headers).flatMap(([name, value]) =>
    writtenAnyway.has(name.toLowerCase()) ? [] : [name, value],
  )
}

function textOf(body: string | Uint8Array): string {
  return typeof body === 'string' ? body : new TextDecoder().decode(body)
}
