import type { ModelsAnswer, ModelsQuestion } from '@gateway/ledger-protocol/ledger-reads'
import { sandboxModelLimits } from '@gateway/api/limits'
import type { ModelEntry } from '@gateway/api/model-entry'
import type { Deps } from '../deps.ts'
import { usdFromPico } from '@gateway/pricing/price'
import { readCaller } from '../keys/read-caller.ts'
import type { SandboxAnswer, SandboxQuestion } from '@gateway/ledger-protocol/flow-reads'
import { refused } from '@gateway/ledger-protocol/ledger-refusal'

interface ProductRow {
  id: string
  name: string
  description: string
  kind: 'chat' | 'embedding'
  owned_by: string
  context_length: number
  max_output_tokens: number
  supported_parameters: string[]
  input_modalities: string[]
  output_modalities: string[]
  is_moderated: boolean
  unit: 'tokens' | 'request'
  prompt_pico: bigint
  completion_pico: bigint
  request_pico: bigint
  cached_pico: bigint | null
  reasoning_pico: bigint | null
  cache_write_pico: bigint | null
  created_at: Date
  max_tokens_per_image: number | null
  image_max_bytes: number
  image_max_count: number
  image_https: boolean
}

interface SandboxRow {
  id: string
  name: string
  description: string
  project_name: string
  revision: number
  activated_at: Date
}

const TEXT = { modality: 'text->text', modalities: ['text'] }

/**
 * Returns what a key can call now, products and then sandbox products: the same views and the same refusals as
 * admission (rules §4.1).
 */
export async function readModels(
  deps: Pick<Deps, 'reads'>,
  { kind, ...question }: ModelsQuestion,
): Promise<ModelsAnswer> {
  const caller = await readCaller(deps, question)
  if ('refused' in caller) return caller
  const { prisma } = deps.reads
  const [products, sandboxes] = await Promise.all([
    prisma.$queryRaw<ProductRow[]>`
      SELECT p.* FROM money.callable_models p JOIN money.callers k ON k.project = p.project
       WHERE k.id = ${caller.id} AND p.kind = ${kind ?? 'chat'}
         AND (k.policy = 'all-eligible' OR EXISTS (SELECT FROM control.key_resources r WHERE r.key = k.id AND r.resource = p.id))
       ORDER BY p.id`,
    kind === 'embedding'
      ? []
      : prisma.$queryRaw<SandboxRow[]>`
      SELECT s.id, s.name, s.description, s.revision, s.activated_at, k.project_name
        FROM money.callable_sandboxes s JOIN money.callers k ON k.project = s.project
       WHERE k.id = ${caller.id} AND s.chat_input IS NOT NULL
         AND money.unlisted_resource(k.id, k.policy, s.id, s.manifest) IS NULL
       ORDER BY s.id`,
  ])
  return { entries: [...products.map(entryOf), ...sandboxes.map(sandboxEntryOf)] }
}

function sandboxEntryOf({ id, name, description, project_name, revision, activated_at }: SandboxRow): ModelEntry {
  const { contextLength, maxOutputTokens } = sandboxModelLimits
  return {
    id,
    object: 'model',
    created: Math.floor(activated_at.getTime() / 1000),
    name,
    description,
    owned_by: project_name,
    modality: TEXT.modality,
    context_length: contextLength,
    max_output_tokens: maxOutputTokens,
    architecture: { modality: TEXT.modality, input_modalities: TEXT.modalities, output_modalities: TEXT.modalities },
    top_provider: { context_length: contextLength, max_completion_tokens: maxOutputTokens, is_moderated: false },
    supported_parameters: ['stream', 'stream_options'],
    pricing: { unit: 'execution', prompt: '0', completion: '0', request: '0' },
    service: { kind: 'sandbox', revision, invoke: `/v1/sandbox/${id}/invoke` },
  }
}

function entryOf(product: ProductRow): ModelEntry {
  const maxOutputTokens = product.kind === 'embedding' ? 0 : product.max_output_tokens
  const modality = `${product.input_modalities.join('+')}->${product.output_modalities.join('+')}`
  return {
    id: product.id,
    object: 'model',
    created: Math.floor(product.created_at.getTime() / 1000),
    name: product.name,
    description: product.description,
    owned_by: product.owned_by,
    modality,
    context_length: product.context_length,
    max_output_tokens: maxOutputTokens,
    architecture: {
      modality,
      input_modalities: product.input_modalities,
      output_modalities: product.output_modalities,
    },
    top_provider: {
      context_length: product.context_length,
      max_completion_tokens: maxOutputTokens,
      is_moderated: product.is_moderated,
    },
    supported_parameters: product.supported_parameters,
    pricing: pricingOf(product),
    ...(product.max_tokens_per_image !== null && {
      image_input: {
        max_bytes: product.image_max_bytes,
        max_count: product.image_max_count,
        https: product.image_https,
      },
    }),
  }
}

function pricingOf(product: ProductRow): ModelEntry['pricing'] {
  const { unit, prompt_pico, completion_pico, request_pico, cached_pico, reasoning_pico, cache_write_pico } = product
  if (unit === 'request')
    return { unit, request: usdFromPico(request_pico), usd_per_request: Number(usdFromPico(request_pico)) }
  return {
    unit,
    prompt: usdFromPico(prompt_pico),
    completion: usdFromPico(completion_pico),
    ...(cached_pico !== null && { input_cache_read: usdFromPico(cached_pico) }),
    ...(cache_write_pico !== null && { input_cache_write: usdFromPico(cache_write_pico) }),
    ...(reasoning_pico !== null && { internal_reasoning: usdFromPico(reasoning_pico) }),
    input_usd_per_1m: Number(usdFromPico(prompt_pico * 1_000_000n)),
    output_usd_per_1m: Number(usdFromPico(completion_pico * 1_000_000n)),
  }
}

interface SandboxFacts {
  id: string
  name: string
  description: string
  project: string
  mcp_enabled: boolean
  suspended: boolean
  revision: number | null
  digest: string | null
  unlisted: string | null
  unassigned: string | null
}

/**
 * Returns what a key may know of a sandbox product before it starts an execution. Refuses in the same order as a start
 * (rules §2.3). What only the active revision lacks is reported: a repeat does not depend on it (flows §5.2).
 */
export async function readSandbox(
  deps: Pick<Deps, 'reads' | 'packageCache'>,
  { caller: asked, sandbox }: SandboxQuestion,
): Promise<SandboxAnswer> {
  const caller = await readCaller(deps, asked)
  if ('refused' in caller) return caller
  const [row] = await deps.reads.prisma.$queryRaw<SandboxFacts[]>`
    SELECT s.id, s.name, s.description, s.project, s.mcp_enabled, s.suspended, p.revision, p.digest,
           money.unlisted_resource(k.id, k.policy, s.id, p.manifest) AS unlisted,
           money.unassigned_product(s.project, p.manifest) AS unassigned
      FROM control.sandboxes s
      JOIN control.keys k ON k.id = ${caller.id} AND k.project = s.project
      LEFT JOIN money.active_packages p ON p.sandbox = s.id
     WHERE s.id = ${sandbox}`
  if (!row) return refused('sandbox_not_found', { sandbox })
  const { unlisted } = row
  if (unlisted === row.id) return refused('key_scope', { resource: unlisted })
  const { id, name, description, project, mcp_enabled: mcpEnabled, suspended, revision, digest, unassigned } = row
  const facts = { id, name, description, project, mcpEnabled, suspended }
  if (revision === null || digest === null) return { sandbox: { ...facts, revision: null } }
  const { input, output } = (await deps.packageCache.get({ sandbox: id, revision, digest })).package
  return { sandbox: { ...facts, revision, digest, input, output, unassigned, unlisted } }
}
