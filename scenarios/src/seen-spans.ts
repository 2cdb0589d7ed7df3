/** A span as a collector sees it. */
export interface SeenSpan {
  service: string
  traceId: string
  spanId: string
  parentSpanId: string | null
  name: string
  kind: 'internal' | 'server' | 'client' | 'producer' | 'consumer'
  attributes: Record<string, unknown>
  links: { traceId: string; spanId: string }[]
  startNs: bigint
}

interface Value {
  stringValue?: string
  intValue?: number | string
  doubleValue?: number
  boolValue?: boolean
  arrayValue?: { values: Value[] }
}
type Attributes = { key: string; value: Value }[]
interface Export {
  resourceSpans: {
    resource: { attributes: Attributes }
    scopeSpans: {
      spans: {
        traceId: string
        spanId: string
        parentSpanId?: string
        name: string
        kind: number
        startTimeUnixNano: string
        attributes?: Attributes
        links?: { traceId: string; spanId: string }[]
      }[]
    }[]
  }[]
}

const KINDS = ['internal', 'internal', 'server', 'client', 'producer', 'consumer'] as const

/** Parses an OTLP JSON export. */
export function readSpans(text: string): SeenSpan[] {
  return (JSON.parse(text) as Export).resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const service = String(valuesOf(resource.attributes)['service.name'])
    return scopeSpans.flatMap(({ spans }) =>
      spans.map((span) => ({
        service,
        traceId: span.traceId,
        spanId: span.spanId,
        parentSpanId: span.parentSpanId || null,
        name: span.name,
        kind: KINDS[span.kind] ?? 'internal',
        attributes: valuesOf(span.attributes ?? []),
        links: (span.links ?? []).map(({ traceId, spanId }) => ({ traceId, spanId })),
        startNs: BigInt(span.startTimeUnixNano),
      })),
    )
  })
}

function valuesOf(attributes: Attributes): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, valueOf(value)]))
}

function valueOf({ stringValue, intValue, doubleValue, boolValue, arrayValue }: Value): unknown {
  if (arrayValue) return arrayValue.values.map(valueOf)
  return stringValue ?? (intValue === undefined ? (doubleValue ?? boolValue) : Number(intValue))
}

/**
 * A trace as text: one line per span, indented below its parent and sorted by start time. Spans with a node or an attempt end with them.
 * A span whose parent is missing isn't indented.
 */
export function treeOf(spans: readonly SeenSpan[]): string[] {
  const known = new Set(spans.map(({ spanId }) => spanId))
  const children = Map.groupBy(spans, ({ parentSpanId }) =>
    parentSpanId && known.has(parentSpanId) ? parentSpanId : '',
  )
  const below = (parent: string, depth: number): string[] =>
    (children.get(parent) ?? [])
      .toSorted((a, b) => Number(a.startNs - b.startNs))
      .flatMap((span) => ['  '.repeat(depth) + lineOf(span), ...below(span.spanId, depth + 1)])
  return below('', 0)
}

function lineOf({ service, kind, name, attributes }: SeenSpan): string {
  const node = attributes['service.node'] as string | undefined
  const isJob = kind === 'producer' || kind === 'consumer' || name === 'run node'
  const attempt = isJob ? ` #${String(attributes['service.attempt'])}` : ''
  return `${service} ${kind} ${name}${node === undefined ? '' : ` [${node}${attempt}]`}`
}

/** A span and all its descendants. */
export function partOf(spans: readonly SeenSpan[], root: string): SeenSpan[] {
  const found = new Set([root])
  for (let grown = true; grown;) {
    grown = false
    for (const { spanId, parentSpanId } of spans) {
      if (parentSpanId === null || found.has(spanId) || !found.has(parentSpanId)) continue
      found.add(spanId)
      grown = true
    }
  }
  return spans.filter(({ spanId }) => found.has(spanId))
}
