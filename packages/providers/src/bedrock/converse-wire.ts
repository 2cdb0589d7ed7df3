import type { ReadError } from '../error-facts.ts'
import { throwErrorInside } from '../openai-compatible/read-chat.ts'
import { openConverseEvents, rebuildConverse } from './read-converse.ts'
import type { ProviderConfig } from '../provider-config.ts'
import { reasoningSeal } from '../reasoning-seal.ts'
import type { WireFormat } from '../wire-format.ts'
import { amazonEventStream } from './event-stream.ts'
import { requestSigner } from './sign-request.ts'
import { writeConverse } from './write-converse.ts'

/** Amazon Bedrock's Converse and ConverseStream, the same format for all of its models. */
export function converseWire(config: Extract<ProviderConfig, { kind: 'bedrock' }>): WireFormat {
  const seal = reasoningSeal(config)
  const sign = requestSigner(config)
  return {
    request: async (call) => sign(writeConverse(call, seal), call.stream),
    readCompletion(body) {
      throwErrorInside(body)
      return rebuildConverse(body, seal)
    },
    framing: amazonEventStream,
    openEvents: () => openConverseEvents(seal),
    readError,
  }
}

/** The code is in a header, such as `ThrottlingException:http://…`. */
const readError: ReadError = (status, headers, _body) => {
  const [, code] = /^([A-Za-z]{1,64})(?:$|:)/.exec(String(headers['x-amzn-errortype'] ?? '')) ?? []
  return { status, code }
}
