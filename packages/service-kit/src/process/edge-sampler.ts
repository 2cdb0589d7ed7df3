import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace'
import type { Environment } from './config.ts'

/**
 * Sampler of a service that is called from outside. The operator's sampler decides about a span with a parent in another
 * process as about a root, whether or not the caller records it; the spans below follow that decision. null: the
 * sampler of the environment ignores parents anyway.
 */
export function edgeSampler(env: Environment): Sampler | null {
  const root = rootSampler(env)
  return root && new ParentBasedSampler({ root, remoteParentSampled: root, remoteParentNotSampled: root })
}

/** The root of the sampler that the SDK reads from the environment, with the same defaults; null if it has none. */
function rootSampler(env: Environment): Sampler | null {
  switch ((env['OTEL_TRACES_SAMPLER'] ?? '').trim()) {
    case 'always_on':
    case 'always_off':
    case 'traceidratio':
      return null
    case 'parentbased_always_off':
      return new AlwaysOffSampler()
    case 'parentbased_traceidratio':
      return new TraceIdRatioBasedSampler(ratioOf(env['OTEL_TRACES_SAMPLER_ARG']))
    default:
      return new AlwaysOnSampler()
  }
}

function ratioOf(text = ''): number {
  const ratio = text.trim() === '' ? 1 : Number(text)
  return ratio >= 0 && ratio <= 1 ? ratio : 1
}
