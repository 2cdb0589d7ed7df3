import type { RefusalCode } from './refusal.ts'

/** Facts for the row of a code. A row that reads an unlisted fact says "undefined", which fails its test. */
export function refusalFacts(code: RefusalCode): object {
  return { ...facts, ...factsOf[code] }
}

/** Facts that the rows read. */
const facts = {
  reason: 'The body is not a JSON object.',
  resolution: 'Send one JSON object.',
  header: 'Authorization',
  rotatedTo: 'key_01jd3zq2v8x9w7c5b4n6m8k0gh',
  expiredAt: '2026-11-20T00:00:00Z',
  neededMicro: 400,
  availableMicro: 120,
  affordableMaxTokens: 10,
  reservedMicro: 900,
  use: true,
  project: 'prj_01jd3zq2v8x9w7c5b4n6m8k0gh',
  resource: 'acme/swift',
  month: '2026-08',
  day: '2026-08-31',
  first: '2026-09-01',
  zone: 'Asia/Kolkata',
  reset: 'daily',
  limitMicro: 5_000_000,
  spentMicro: 4_999_000,
  resetsAt: '2026-11-21T00:00:00Z',
  product: 'acme/swift',
  need: 'the role Admin',
  model: 'acme/swift',
  method: 'PUT',
  allow: 'GET, POST',
  state: 'Revoked',
  maxMicro: 1_000,
  chargedMicro: 80,
  what: 'The product acme/swift',
  holds: 'projects',
  limitBytes: 1_048_576,
  resources: ['acme/swift', 'acme/stray'],
  contextLength: 8_192,
  maxOutputTokens: 4_096,
  promptTokens: 9_000,
  outputCap: 4_096,
  sandbox: 'sbx-01jd3zq2v8x9w7c5b4n6m8k0gh',
  execution: 'exe_01jd3zq2v8x9w7c5b4n6m8k0gh',
  asset: 'ast_01jd3zq2v8x9w7c5b4n6m8k0gh',
  invocation: 'inv_01jd3zq2v8x9w7c5b4n6m8k0gh',
  revision: 2,
  activeRevision: 3,
  latestRevision: 4,
  suspended: false,
  bytes: 1_234,
  fields: [{ field: 'topic', message: 'must be a string' }],
  problems: [{ message: 'The node draft has no prompt.' }],
  node: 'draft',
  nodes: ['draft', 'trim'],
  port: 'text',
  started: true,
}
/** Overrides for rows that use a name differently. */
const factsOf: Partial<Record<RefusalCode, object>> = { output_missing: { fields: ['text'] } }
