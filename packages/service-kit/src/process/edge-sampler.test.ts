import { ROOT_CONTEXT, SpanKind, trace, TraceFlags } from '@opentelemetry/api'
import { SamplingDecision } from '@opentelemetry/sdk-trace'
import { expect, test } from 'vitest'
import { edgeSampler } from './edge-sampler.ts'

const LOW = '00000001000000000000000000000001'
const HIGH = 'fffffffe0000000000000000000000fe'

/** Whether a span is recorded whose parent is in another process, which records it or does not. */
function records(env: Record<string, string>, traceId: string, traceFlags: TraceFlags, isRemote = true): boolean {
  const context = trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId: '00f067aa0ba902b7', traceFlags, isRemote })
  const { decision } = edgeSampler(env)!.shouldSample(context, traceId, 'call', SpanKind.SERVER, {}, [])
  return decision === SamplingDecision.RECORD_AND_SAMPLED
}

const ratio = { OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.1' }

test.each([
  ['everything by default', {}, true, true],
  ['nothing if it is switched off', { OTEL_TRACES_SAMPLER: 'parentbased_always_off' }, false, false],
  ['a share of the traces', ratio, true, false],
  ['everything with a share that is not a number', { ...ratio, OTEL_TRACES_SAMPLER_ARG: 'half' }, true, true],
])('the operator records %s, regardless of the flag of the caller', (_, env, low, high) => {
  for (const flag of [TraceFlags.NONE, TraceFlags.SAMPLED])
    expect([records(env, LOW, flag), records(env, HIGH, flag)]).toEqual([low, high])
})

test('a span follows its parent in the same process', () => {
  expect(records(ratio, HIGH, TraceFlags.SAMPLED, false)).toBe(true)
  expect(records(ratio, LOW, TraceFlags.NONE, false)).toBe(false)
})

test.each(['always_on', 'always_off', 'traceidratio'])('%s is left to the SDK', (name) => {
  expect(edgeSampler({ OTEL_TRACES_SAMPLER: name })).toBeNull()
})
