import type { CallToolResult } from '@modelcontextprotocol/server'
import type { AssetValue, ExecutionRecord, Values } from '@gateway/contracts/execution'
import type { Refusal, RefusalBody } from '@gateway/contracts/refusal'
import type { Deps } from '../deps.ts'
import { mediaContent } from './media-content.ts'

/** What an execution has come to, as the result of a call of the tool. The same execution gives the same result. */
export async function executionResult(
  deps: Pick<Deps, 'ledger' | 'assetStore'>,
  record: ExecutionRecord,
): Promise<CallToolResult> {
  if (record.status !== 'Succeeded') return failedResult(record)
  // A field that was not supplied is left out: the schema has the types of values, and null is none of them.
  const supplied = Object.entries(record.output ?? {}).filter(([, value]) => value !== null)
  const output: Values = Object.fromEntries(supplied)
  const media = await mediaContent(deps, mediaIn(output), record.project)
  return {
    content: [{ type: 'text', text: JSON.stringify(output) }, ...media],
    structuredContent: output,
    _meta: { service: serviceOf(record) },
  }
}

/** A refusal as a model reads it: its code, what it says and what clears it. */
export function refusedResult({ body }: Pick<Refusal, 'body'>): CallToolResult {
  return { isError: true, content: [{ type: 'text', text: JSON.stringify({ error: body }) }] }
}

function failedResult(record: ExecutionRecord): CallToolResult {
  const { id, error, chargedMicro } = record
  const facts: { error: RefusalBody | null; execution: string; chargedMicro: number } = {
    error,
    execution: id,
    chargedMicro,
  }
  return {
    isError: true,
    content: [{ type: 'text', text: JSON.stringify(facts) }],
    _meta: { service: serviceOf(record) },
  }
}

/** As a chat completion of a sandbox product has it (rules §3.9). */
function serviceOf({ id, project, revision, chargedMicro }: ExecutionRecord) {
  return { kind: 'sandbox', execution_id: id, project, revision, charged_micro: chargedMicro }
}

/**
 * What looks like the value of an image or a sound. The contract is not asked: that of the execution may be of a
 * revision that is no longer the active one, and a repeat is to have the same result. `mediaContent` finds out whether
 * it is one.
 */
function mediaIn(output: Values): AssetValue[] {
  return Object.values(output).filter(isMedia)
}

function isMedia(value: unknown): value is AssetValue {
  if (typeof value !== 'object' || value === null) return false
  const { asset, mimeType, bytes } = value as Partial<AssetValue>
  return typeof asset === 'string' && /^(image|audio)\//.test(String(mimeType)) && Number.isSafeInteger(bytes)
}
